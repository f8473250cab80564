import './float16Bits.ts';
import type { CompiledModel } from '../compile/compileModel.ts';
import { toFloat16 } from '../compile/floats.ts';
import { chainParents, nodeDepths } from '../tree/treeShape.ts';
import { checkContext } from './contextLimit.ts';
import { extraOutputNames, tapNames } from './extraOutputs.ts';
import { asOutputs, disposeBuffers, type GpuBuffers, type GpuRows } from './gpuRows.ts';
import { runOnGpu } from './gpuSession.ts';
import type { ForwardBatch, ForwardOutput, KvCache } from './languageModel.ts';
import * as ort from './onnxruntime.ts';

/** Capacity grows in steps of this many rows, and by half at least: growing copies all rows once. */
const CAPACITY_STEP = 256;
/** Hides a row from a token: no float16 score added to it overflows to infinity, and its exponential is 0. */
const HIDDEN_SCORE = -30000;

/** A decoder on the device, and how it is run there. */
export interface GpuDecoder {
  readonly session: ort.InferenceSession;
  readonly rows: GpuRows;
  readonly compiled: CompiledModel;
  /** Tokens that one run of the session may evaluate: longer batches take several. */
  readonly tokensPerRun: number;
}

/**
 * KV rows on the device. A pass writes its rows behind the committed ones. Committing the first rows of a batch is
 * moving a number; a path through other nodes is moved up by the device. Forgetting rows is moving the number back.
 */
export class GpuKvCache implements KvCache {
  readonly exactDepth = Number.POSITIVE_INFINITY;
  readonly #decoder: GpuDecoder;
  readonly #taps: readonly string[];
  #buffers: GpuBuffers | undefined;
  #capacity = 0;
  /** What has been asked for, and is made when the next pass needs it. */
  #reserved: number;
  #length = 0;
  #pending = 0;

  constructor(decoder: GpuDecoder, capacity: number) {
    this.#decoder = decoder;
    this.#taps = tapNames(decoder.compiled);
    this.#reserved = capacity;
  }

  get length(): number {
    return this.#length;
  }

  get bytes(): number {
    const { layers, kvHeads, headDim } = this.#decoder.compiled.checkpoint.architecture;
    return 2 * layers * kvHeads * this.#capacity * headDim * (this.#half ? 2 : 4);
  }

  reserve(rows: number): void {
    this.#reserved = Math.max(this.#reserved, rows);
  }

  async forward(batch: ForwardBatch): Promise<ForwardOutput> {
    const size = batch.tokens.length;
    this.#pending = 0;
    checkContext(batch, this.#length, this.#decoder.compiled.checkpoint.architecture.contextLength);
    const buffers = await this.#makeSpace(this.#length + size);
    const tree = batch.parents ?? chainParents(size);
    const parts: ForwardOutput[] = [];
    for (let start = 0; start < size; start += this.#decoder.tokensPerRun) {
      const end = Math.min(size, start + this.#decoder.tokensPerRun);
      parts.push(await this.#run(buffers, batch, tree, start, end));
    }
    this.#pending = size;
    return parts.length === 1 ? parts[0] : concatenate(parts);
  }

  async commit(path: ArrayLike<number>): Promise<void> {
    if (path.length > this.#pending || !this.#buffers) throw new Error('commit without a forward pass');
    this.#pending = 0;
    let inPlace = 0;
    while (inPlace < path.length && path[inPlace] === inPlace) inPlace++;
    if (inPlace < path.length) {
      const from = Array.from(path).slice(inPlace);
      const rows = from.map((node) => this.#length + node);
      await this.#decoder.rows.move(this.#buffers, rows, this.#length + inPlace);
    }
    this.#length += path.length;
  }

  truncate(length: number): void {
    this.#pending = 0;
    this.#length = Math.min(this.#length, length);
  }

  dispose(): void {
    if (this.#buffers) disposeBuffers(this.#buffers);
    this.#buffers = undefined;
    this.#capacity = 0;
    this.#length = 0;
    this.#pending = 0;
  }

  get #half(): boolean {
    return this.#decoder.compiled.precision === 'fp16';
  }

  async #makeSpace(needed: number): Promise<GpuBuffers> {
    const wanted = Math.max(needed, this.#reserved);
    if (this.#buffers && wanted <= this.#capacity) return this.#buffers;
    const rows = Math.max(wanted, this.#buffers ? 1.5 * this.#capacity : 0);
    const capacity = Math.ceil(rows / CAPACITY_STEP) * CAPACITY_STEP;
    this.#buffers = await this.#decoder.rows.grow(this.#buffers, capacity);
    this.#capacity = capacity;
    return this.#buffers;
  }

  /** Evaluates nodes [start, end) of the batch; those before them have their rows already. */
  async #run(
    buffers: GpuBuffers,
    batch: ForwardBatch,
    tree: Int32Array,
    start: number,
    end: number,
  ): Promise<ForwardOutput> {
    const rows = batch.rows.filter((row) => row >= start && row < end).map((row) => row - start);
    const { successors } = this.#decoder.compiled;
    const wanted = [
      'argmax',
      ...extraOutputNames(this.#decoder.compiled),
      ...(batch.want === 'logits' ? ['logits'] : []),
    ];
    const outputs = await runOnGpu(
      this.#decoder.session,
      { ...buffers, ...this.#feeds(batch.tokens, tree, rows, start, end) },
      { ...asOutputs(buffers), ...Object.fromEntries(wanted.map((name) => [name, null])) },
    );
    const { vocabSize } = this.#decoder.compiled.checkpoint.architecture;
    const argmax = Int32Array.from(outputs.argmax.data as BigInt64Array, Number);
    return {
      argmax: argmax.subarray(0, rows.length),
      taps: this.#taps.map((tap) => outputs[tap].data as Float32Array),
      ...(successors > 0 && {
        successors: Int32Array.from(outputs.successors.data as BigInt64Array, Number).subarray(
          0,
          rows.length * successors,
        ),
      }),
      ...(outputs.successor_log_probs && {
        successorLogProbs: (outputs.successor_log_probs.data as Float32Array).subarray(
          0,
          rows.length * successors,
        ),
      }),
      ...(batch.want === 'logits' && {
        logits: (outputs.logits.data as Float32Array).subarray(0, rows.length * vocabSize),
      }),
    };
  }

  #feeds(
    tokens: Int32Array,
    tree: Int32Array,
    rows: Int32Array,
    start: number,
    end: number,
  ): Record<string, ort.Tensor> {
    const size = end - start;
    const slice = BigInt64Array.from(tokens.subarray(start, end), BigInt);
    const depths = nodeDepths(tree).subarray(start, end);
    const positions = BigInt64Array.from(depths, (depth) => BigInt(this.#length + depth));
    // Without a prediction to wait for, a run would return before it is done, and a cancel would come too late.
    const wanted = rows.length > 0 ? rows : Int32Array.of(size - 1);
    const pads = new BigInt64Array(8);
    pads[3] = BigInt(this.#length);
    const rowsInAll = this.#length + end;
    return {
      tokens: new ort.Tensor('int64', slice, [1, size]),
      positions: new ort.Tensor('int64', positions, [1, size]),
      rows: new ort.Tensor('int64', BigInt64Array.from(wanted, BigInt), [wanted.length]),
      tree_mask: this.#treeMask(tree, start, end),
      mask_pads: new ort.Tensor('int64', pads, [8]),
      last_row: new ort.Tensor('int32', Int32Array.of(rowsInAll - 1), [1]),
      rows_in_all: new ort.Tensor('int32', Int32Array.of(rowsInAll), [1]),
    };
  }

  /** [1, 1, end - start, end]: 0 on a node's ancestors and itself. */
  #treeMask(parents: Int32Array, start: number, end: number): ort.Tensor {
    const shape = [1, 1, end - start, end];
    const mask = new Float32Array((end - start) * end).fill(HIDDEN_SCORE);
    for (let node = start; node < end; node++) {
      for (let seen = node; seen >= 0; seen = parents[seen]) mask[(node - start) * end + seen] = 0;
    }
    return this.#half
      ? new ort.Tensor('float16', toFloat16(mask), shape)
      : new ort.Tensor('float32', mask, shape);
  }
}

function concatenate(parts: readonly ForwardOutput[]): ForwardOutput {
  const logits = parts.flatMap((part) => part.logits ?? []);
  const successors = parts.flatMap((part) => [...(part.successors ?? [])]);
  const logProbs = parts.flatMap((part) => part.successorLogProbs ?? []);
  return {
    argmax: Int32Array.from(parts.flatMap((part) => [...part.argmax])),
    taps: parts[0].taps.map((_, tap) => joinFloats(parts.map((part) => part.taps[tap]))),
    ...(logits.length > 0 && { logits: joinFloats(logits) }),
    ...(successors.length > 0 && { successors: Int32Array.from(successors) }),
    ...(logProbs.length > 0 && { successorLogProbs: joinFloats(logProbs) }),
  };
}

function joinFloats(parts: readonly Float32Array[]): Float32Array {
  const joined = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}
