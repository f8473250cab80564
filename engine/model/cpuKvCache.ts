import type { CompiledModel } from '../compile/compileModel.ts';
import { exactDepth, OPEN_ROWS } from '../compile/cpuAttention.ts';
import { cpuKvType } from '../compile/precision.ts';
import { ROOT } from '../tree/tokenTree.ts';
import { chainParents, nodeDepths } from '../tree/treeShape.ts';
import { closedMask, openMask } from './attentionMasks.ts';
import { checkContext } from './contextLimit.ts';
import { cpuFault } from './cpuFault.ts';
import { CpuKvRows, type PendingRows } from './cpuKvRows.ts';
import { extraOutputNames, tapNames } from './extraOutputs.ts';
import type { ForwardBatch, ForwardOutput, KvCache } from './languageModel.ts';
import * as ort from './onnxruntime.ts';

/**
 * Passes of a model on the CPU over one sequence. The graph reads the KV rows in place and hands out only the new rows; committing copies
 * the accepted ones to their place, so a rejected branch costs nothing and nothing is ever compacted.
 */
export class CpuKvCache implements KvCache {
  readonly #session: ort.InferenceSession;
  readonly #rows: CpuKvRows;
  readonly #group: number;
  readonly #contextLength: number;
  readonly #taps: readonly string[];
  readonly #extraFetches: readonly string[];
  #pending: PendingRows | undefined;

  constructor(session: ort.InferenceSession, compiled: CompiledModel, capacity: number) {
    const { architecture } = compiled.checkpoint;
    this.#session = session;
    this.#rows = new CpuKvRows(architecture, cpuKvType(compiled.precision), capacity);
    this.#group = architecture.heads / architecture.kvHeads;
    this.#contextLength = architecture.contextLength;
    this.#taps = tapNames(compiled);
    this.#extraFetches = extraOutputNames(compiled);
  }

  get length(): number {
    return this.#rows.length;
  }

  get exactDepth(): number {
    return exactDepth(this.length);
  }

  get bytes(): number {
    return this.#rows.bytes;
  }

  reserve(rows: number): void {
    this.#rows.reserve(rows);
  }

  async forward(request: ForwardBatch): Promise<ForwardOutput> {
    const batch = this.#padded(request);
    const size = batch.tokens.length;
    checkContext(request, this.length, this.#contextLength);
    this.#pending = undefined;
    const fetches = [
      'argmax',
      'new_rows',
      ...this.#extraFetches,
      ...(batch.want === 'logits' ? ['logits'] : []),
    ];
    const outputs = await this.#run({ ...this.#rows.feeds, ...this.#batchFeeds(batch) }, fetches);
    this.#pending = { rows: outputs.new_rows.data as PendingRows['rows'], size };
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
    this.#rows.append(pending, path);
  }

  truncate(length: number): void {
    this.#pending = undefined;
    this.#rows.truncate(length);
  }

  dispose(): void {
    this.#rows.dispose();
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
    const { length, capacity } = this.#rows;
    const place = { length, capacity };
    const closed = closedMask(place, tree, this.#group);
    const open = openMask(place, tree, this.#group);
    const positions = BigInt64Array.from(nodeDepths(tree), (depth) => BigInt(length + depth));
    return {
      tokens: new ort.Tensor('int64', BigInt64Array.from(tokens, BigInt), [1, size]),
      positions: new ort.Tensor('int64', positions, [1, size]),
      rows: new ort.Tensor('int64', BigInt64Array.from(rows, BigInt), [rows.length]),
      closed_mask: new ort.Tensor('float32', closed, [closed.length / capacity, capacity]),
      open_mask: new ort.Tensor('float32', open, [this.#group * size, OPEN_ROWS + size]),
    };
  }
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
