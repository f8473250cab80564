import './float16Bits.ts';
import type { CompiledModel } from '../compile/compileModel.ts';
import { closedRows, exactDepth, type KvType, OPEN_ROWS } from '../compile/cpuAttention.ts';
import { cpuKvType } from '../compile/precision.ts';
import { ROOT } from '../tree/tokenTree.ts';
import { chainParents, nodeDepths } from '../tree/treeShape.ts';
import { closedMask, openMask } from './attentionMasks.ts';
import { checkContext } from './contextLimit.ts';
import { cpuFault } from './cpuFault.ts';
import { extraOutputNames, tapNames } from './extraOutputs.ts';
import type { ForwardBatch, ForwardOutput, KvCache } from './languageModel.ts';
import * as ort from './onnxruntime.ts';

/**
 * Capacity grows in steps of this many rows: fewer copies, and at most this many rows of attention for nothing, which
 * cost more than all the rest of a short pass. Whole steps keep the order in which the kernels sum (see cpuAttention).
 */
const CAPACITY_STEP = 64;

/** Rows that may be too many before some are given back: a copy takes as long as attending to these in a few passes. */
const SPARE_ROWS = 128;

/** float32, or the bits of float16. */
type Rows = Float32Array | Uint16Array;

/** Rows that a forward pass computed and nobody has committed yet. */
interface Pending {
  readonly rows: Rows; // [layers, 2 * kvHeads, T, headDim]
  readonly size: number; // T
}

/**
 * KV rows in JavaScript's memory. The graph reads them in place and hands out only the new rows; committing copies
 * the accepted ones to their place, so a rejected branch costs nothing and nothing is ever compacted.
 */
export class CpuKvCache implements KvCache {
  readonly #session: ort.InferenceSession;
  readonly #layers: number;
  readonly #kvHeads: number;
  readonly #headDim: number;
  readonly #group: number;
  readonly #contextLength: number;
  readonly #taps: readonly string[];
  readonly #extraFetches: readonly string[];
  readonly #kvType: KvType;
  #capacity = 0;
  #length = 0;
  /** Keys of layer 0, values of layer 0, keys of layer 1, ...: every committed row. Each [kvHeads, capacity, headDim] */
  #buffers: Rows[] = [];
  /** A layer's committed rows that are not closed for the next token, from `closedRows(length)` on. */
  readonly #open: readonly Rows[]; // [2 * kvHeads, OPEN_ROWS, headDim]
  #feeds: Record<string, ort.Tensor> = {};
  #pending: Pending | undefined;

  constructor(session: ort.InferenceSession, compiled: CompiledModel, capacity: number) {
    const { checkpoint, precision } = compiled;
    const { layers, heads, kvHeads, headDim, contextLength } = checkpoint.architecture;
    this.#session = session;
    this.#layers = layers;
    this.#kvHeads = kvHeads;
    this.#headDim = headDim;
    this.#group = heads / kvHeads;
    this.#contextLength = contextLength;
    this.#taps = tapNames(compiled);
    this.#extraFetches = extraOutputNames(compiled);
    this.#kvType = cpuKvType(precision);
    this.#open = Array.from({ length: layers }, () => this.#newRows(2 * kvHeads * OPEN_ROWS * headDim));
    this.#resize(roundUp(capacity));
  }

  get length(): number {
    return this.#length;
  }

  get exactDepth(): number {
    return exactDepth(this.#length);
  }

  get bytes(): number {
    return [...this.#buffers, ...this.#open].reduce((sum, buffer) => sum + buffer.byteLength, 0);
  }

  reserve(rows: number): void {
    const capacity = roundUp(Math.max(rows, this.#length));
    // Every pass attends to the whole capacity: one that was made for a longer sequence is given back.
    if (capacity > this.#capacity || capacity + SPARE_ROWS < this.#capacity) this.#resize(capacity);
  }

  async forward(request: ForwardBatch): Promise<ForwardOutput> {
    const batch = this.#padded(request);
    const size = batch.tokens.length;
    checkContext(request, this.#length, this.#contextLength);
    this.#pending = undefined;
    const fetches = [
      'argmax',
      'new_rows',
      ...this.#extraFetches,
      ...(batch.want === 'logits' ? ['logits'] : []),
    ];
    const outputs = await this.#run({ ...this.#feeds, ...this.#batchFeeds(batch) }, fetches);
    this.#pending = { rows: outputs.new_rows.data as Rows, size };
    return {
      argmax: toInt32(outputs.argmax).subarray(0, request.rows.length),
      ...(outputs.successors && { successors: toInt32(outputs.successors) }),
      ...(outputs.successor_log_probs && {
        successorLogProbs: outputs.successor_log_probs.data as Float32Array,
      }),
      taps: this.#taps.map((tap) => takeRows(outputs[tap], request.tokens.length)),
      ...(batch.want === 'logits' ? { logits: outputs.logits.data as Float32Array } : {}),
    };
  }

  commit(path: ArrayLike<number>): void {
    const pending = this.#pending;
    if (!pending) throw new Error('commit without a forward pass');
    this.#pending = undefined;
    const first = this.#length;
    if (first + path.length > this.#capacity) this.#resize(roundUp(first + path.length));
    const headDim = this.#headDim;
    for (let part = 0; part < 2 * this.#layers * this.#kvHeads; part++) {
      const { buffer, offset } = this.#head(part);
      const source = part * pending.size * headDim;
      for (let i = 0; i < path.length; i++) {
        const row = pending.rows.subarray(source + path[i] * headDim, source + (path[i] + 1) * headDim);
        buffer.set(row, offset + (first + i) * headDim);
      }
    }
    this.#length = first + path.length;
    this.#refreshOpen(closedRows(first) === closedRows(this.#length) ? first : 0);
  }

  truncate(length: number): void {
    this.#pending = undefined;
    if (length >= this.#length) return;
    this.#length = length;
    this.#refreshOpen(0);
  }

  dispose(): void {
    this.#buffers = [];
    this.#feeds = {};
    this.#pending = undefined;
  }

  async #run(feeds: Record<string, ort.Tensor>, fetches: string[]) {
    try {
      return await this.#session.run(feeds, fetches);
    } catch (cause) {
      throw cpuFault(cause, (said) => ({ code: 'internal', message: `The model could not be run: ${said}` }));
    }
  }

  #padded(request: ForwardBatch): ForwardBatch {
    const batch = this.#group === 1 ? atLeastTwo(request) : request;
    // The runtime's TopK divides by the number of rows, and its ReduceMax of no rows has another shape.
    const needsRow = batch.rows.length === 0;
    return needsRow ? { ...batch, rows: Int32Array.of(0) } : batch;
  }

  #batchFeeds({ tokens, parents, rows }: ForwardBatch): Record<string, ort.Tensor> {
    const size = tokens.length;
    const tree = parents ?? chainParents(size);
    const place = { length: this.#length, capacity: this.#capacity };
    const closed = closedMask(place, tree, this.#group);
    const open = openMask(place, tree, this.#group);
    const positions = BigInt64Array.from(nodeDepths(tree), (depth) => BigInt(this.#length + depth));
    return {
      tokens: new ort.Tensor('int64', BigInt64Array.from(tokens, BigInt), [1, size]),
      positions: new ort.Tensor('int64', positions, [1, size]),
      rows: new ort.Tensor('int64', BigInt64Array.from(rows, BigInt), [rows.length]),
      closed_mask: new ort.Tensor('float32', closed, [closed.length / this.#capacity, this.#capacity]),
      open_mask: new ort.Tensor('float32', open, [this.#group * size, OPEN_ROWS + size]),
    };
  }

  /** The place of the `part`-th head (layers, then keys before values, then heads) among the buffers. */
  #head(part: number): { buffer: Rows; offset: number } {
    const buffer = this.#buffers[Math.floor(part / this.#kvHeads)];
    return { buffer, offset: (part % this.#kvHeads) * this.#capacity * this.#headDim };
  }

  /** Copies the committed rows from position `from` on that belong among the open ones. At most OPEN_ROWS a head. */
  #refreshOpen(from: number): void {
    const base = closedRows(this.#length);
    const start = Math.max(base, from);
    const headDim = this.#headDim;
    const headsPerLayer = 2 * this.#kvHeads;
    for (let part = 0; part < this.#layers * headsPerLayer; part++) {
      const { buffer, offset } = this.#head(part);
      const rows = buffer.subarray(offset + start * headDim, offset + this.#length * headDim);
      const head = (part % headsPerLayer) * OPEN_ROWS;
      this.#open[Math.floor(part / headsPerLayer)].set(rows, (head + start - base) * headDim);
    }
  }

  #newRows(size: number): Rows {
    return this.#kvType === 'float32' ? new Float32Array(size) : new Uint16Array(size);
  }

  #resize(capacity: number): void {
    const stride = this.#capacity * this.#headDim;
    const used = this.#length * this.#headDim;
    this.#buffers = Array.from({ length: 2 * this.#layers }, (_, i) => {
      const grown = this.#newRows(this.#kvHeads * capacity * this.#headDim);
      for (let head = 0; head < this.#kvHeads && used > 0; head++) {
        const rows = this.#buffers[i].subarray(head * stride, head * stride + used);
        grown.set(rows, head * capacity * this.#headDim);
      }
      return grown;
    });
    this.#capacity = capacity;
    this.#feeds = this.#createFeeds();
  }

  /** Tensors over the buffers themselves: made once a capacity, read in place by every run. */
  #createFeeds(): Record<string, ort.Tensor> {
    const shape = [1, this.#kvHeads, this.#capacity, this.#headDim];
    const openShape = [1, 2 * this.#kvHeads, OPEN_ROWS, this.#headDim];
    const feeds: Record<string, ort.Tensor> = {};
    for (let layer = 0; layer < this.#layers; layer++) {
      feeds[`keys_${layer}`] = tensorOver(this.#buffers[2 * layer], shape);
      feeds[`values_${layer}`] = tensorOver(this.#buffers[2 * layer + 1], shape);
      feeds[`open_${layer}`] = tensorOver(this.#open[layer], openShape);
    }
    return feeds;
  }
}

function roundUp(rows: number): number {
  return Math.max(1, Math.ceil(rows / CAPACITY_STEP)) * CAPACITY_STEP;
}

/**
 * A product with a single row takes another kernel, which sums in another order. Where a KV head serves one query head,
 * a lone token gets a companion that nobody looks at, so that it comes out as it does in company.
 */
function atLeastTwo(batch: ForwardBatch): ForwardBatch {
  const [token] = batch.tokens;
  if (batch.tokens.length > 1) return batch;
  return { ...batch, tokens: Int32Array.of(token, token), parents: Int32Array.of(ROOT, ROOT) };
}

function toInt32({ data }: ort.Tensor): Int32Array {
  return Int32Array.from(data as BigInt64Array, Number);
}

/** The first `count` rows of [1, T, hidden]. */
function takeRows({ data, dims }: ort.Tensor, count: number): Float32Array {
  return (data as Float32Array).subarray(0, count * dims[2]);
}

/** A tensor that reads the rows in place. */
function tensorOver(rows: Rows, shape: readonly number[]): ort.Tensor {
  return rows instanceof Float32Array
    ? new ort.Tensor('float32', rows, shape)
    : new ort.Tensor('float16', rows, shape);
}
