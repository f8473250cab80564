import * as ort from 'onnxruntime-node';
import type { CompiledModel } from '../compile/compileModel.ts';
import { SlipstreamError } from '../errors.ts';
import { chainParents, HIDDEN, nodeDepths, treeMask } from '../tree/treeMask.ts';
import type { ForwardBatch, ForwardOutput, KvCache } from './languageModel.ts';

/** Capacity grows in steps of this many rows: fewer copies, and at most this many rows of attention for nothing. */
const CAPACITY_STEP = 128;

/** Rows that a forward pass computed and nobody has committed yet. */
interface Pending {
  readonly rows: Float32Array; // [2 * layers, kvHeads, T, headDim]
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
  #capacity = 0;
  #length = 0;
  #buffers: Float32Array[] = []; // keys of layer 0, values of layer 0, keys of layer 1, ...: [kvHeads, capacity, headDim]
  #mask = new Float32Array(0); // [capacity]
  #pastFeeds: Record<string, ort.Tensor> = {};
  #pending: Pending | undefined;

  constructor(session: ort.InferenceSession, { checkpoint, taps }: CompiledModel, capacity: number) {
    const { layers, heads, kvHeads, headDim, contextLength } = checkpoint.architecture;
    this.#session = session;
    this.#layers = layers;
    this.#kvHeads = kvHeads;
    this.#headDim = headDim;
    this.#group = heads / kvHeads;
    this.#contextLength = contextLength;
    this.#taps = taps.map((tap) => `tap_${tap}`);
    this.#resize(roundUp(capacity));
  }

  get length(): number {
    return this.#length;
  }

  get bytes(): number {
    return this.#buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0);
  }

  reserve(rows: number): void {
    if (rows > this.#capacity) this.#resize(roundUp(rows));
  }

  async forward(batch: ForwardBatch): Promise<ForwardOutput> {
    const size = batch.tokens.length;
    if (this.#length + size > this.#contextLength) {
      throw new SlipstreamError(
        'usage',
        `${this.#length + size} tokens do not fit the model's context of ${this.#contextLength}.`,
      );
    }
    this.#pending = undefined;
    const fetches = ['argmax', 'new_rows', ...this.#taps, ...(batch.want === 'logits' ? ['logits'] : [])];
    const outputs = await this.#session.run({ ...this.#pastFeeds, ...this.#newFeeds(batch) }, fetches);
    this.#pending = { rows: outputs.new_rows.data as Float32Array, size };
    return {
      argmax: Int32Array.from(outputs.argmax.data as BigInt64Array, Number),
      taps: this.#taps.map((tap) => outputs[tap].data as Float32Array),
      ...(batch.want === 'logits' ? { logits: outputs.logits.data as Float32Array } : {}),
    };
  }

  commit(path: ArrayLike<number>): void {
    const pending = this.#pending;
    if (!pending) throw new Error('commit without a forward pass');
    this.#pending = undefined;
    const { length } = this;
    this.reserve(length + path.length);
    const headDim = this.#headDim;
    for (let part = 0; part < 2 * this.#layers * this.#kvHeads; part++) {
      const buffer = this.#buffers[Math.floor(part / this.#kvHeads)];
      const target = ((part % this.#kvHeads) * this.#capacity + length) * headDim;
      const source = part * pending.size * headDim;
      for (let i = 0; i < path.length; i++) {
        const from = source + path[i] * headDim;
        buffer.set(pending.rows.subarray(from, from + headDim), target + i * headDim);
      }
    }
    this.#setLength(length + path.length);
  }

  truncate(length: number): void {
    this.#pending = undefined;
    if (length < this.#length) this.#setLength(length);
  }

  dispose(): void {
    this.#buffers = [];
    this.#pastFeeds = {};
    this.#pending = undefined;
  }

  #newFeeds({ tokens, parents, rows }: ForwardBatch): Record<string, ort.Tensor> {
    const size = tokens.length;
    const tree = parents ?? chainParents(size);
    const positions = BigInt64Array.from(nodeDepths(tree), (depth) => BigInt(this.#length + depth));
    const mask = treeMask(tree, this.#group);
    return {
      tokens: new ort.Tensor('int64', BigInt64Array.from(tokens, BigInt), [1, size]),
      positions: new ort.Tensor('int64', positions, [1, size]),
      rows: new ort.Tensor('int64', BigInt64Array.from(rows, BigInt), [rows.length]),
      tree_mask: new ort.Tensor('float32', mask, [this.#group * size, size]),
    };
  }

  #setLength(length: number): void {
    this.#mask.fill(0, this.#length, length);
    this.#mask.fill(HIDDEN, length, this.#length);
    this.#length = length;
  }

  #resize(capacity: number): void {
    const { length } = this;
    const stride = this.#capacity * this.#headDim;
    this.#buffers = Array.from({ length: 2 * this.#layers }, (_, i) => {
      const grown = new Float32Array(this.#kvHeads * capacity * this.#headDim);
      for (let head = 0; head < this.#kvHeads && length > 0; head++) {
        const rows = this.#buffers[i].subarray(head * stride, head * stride + length * this.#headDim);
        grown.set(rows, head * capacity * this.#headDim);
      }
      return grown;
    });
    this.#mask = new Float32Array(capacity).fill(HIDDEN, length);
    this.#capacity = capacity;
    this.#pastFeeds = this.#createPastFeeds();
  }

  /** Tensors over the buffers themselves: made once a capacity, read in place by every run. */
  #createPastFeeds(): Record<string, ort.Tensor> {
    const shape = [1, this.#kvHeads, this.#capacity, this.#headDim];
    const feeds: Record<string, ort.Tensor> = {
      past_mask: new ort.Tensor('float32', this.#mask, [this.#capacity]),
    };
    for (let layer = 0; layer < this.#layers; layer++) {
      feeds[`past_keys_${layer}`] = new ort.Tensor('float32', this.#buffers[2 * layer], shape);
      feeds[`past_values_${layer}`] = new ort.Tensor('float32', this.#buffers[2 * layer + 1], shape);
    }
    return feeds;
  }
}

function roundUp(rows: number): number {
  return Math.max(1, Math.ceil(rows / CAPACITY_STEP)) * CAPACITY_STEP;
}
