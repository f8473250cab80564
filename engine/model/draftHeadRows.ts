import { HIDDEN } from './attentionMasks.ts';
import { impossibleWhereNaN } from './computesNumbers.ts';
import { cpuFault } from './cpuFault.ts';
import type { DraftHeadInfo } from './draftHead.ts';
import * as ort from './onnxruntime.ts';

/** Tokens with the target's feature of the position before each. */
export interface Pairs {
  readonly tokens: Int32Array; // [N], N > 0
  readonly features: Float32Array; // [N, featureWidth]
}

export interface TreeLimits {
  readonly levels: number;
  /** Nodes that each level goes on from, and children of each; at most the draft vocabulary. */
  readonly width: number;
  /** No level follows one whose best path is less probable. */
  readonly leastLogProb: number;
  /** Of a head that was opened for it: what DraftCandidates.expanded is to be. */
  readonly expand?: Int32Array; // [at least levels * width]
}

/** Drafted tokens, level by level: of D levels k, k * k, k * k, ... in all C. */
export interface DraftCandidates {
  readonly width: number; // k
  readonly tokens: Int32Array; // [C], the target's ids; a level has the children of its first parent, best first, ...
  readonly logProbs: Float32Array; // [C], of the paths
  /** The nodes that each level goes on from, by their place on it, best first; those of the last level lead nowhere. */
  readonly expanded: Int32Array; // [D * k]
}

/** Capacity grows in steps of this many rows. */
const CAPACITY_STEP = 64;
/** Rows older than the window that are kept for when tokens at the end are taken back. */
const SPARE_ROWS = 128;

/** The least that a graph can draft, whoever chooses its nodes. */
const ONE_TOKEN: TreeLimits = { levels: 1, width: 1, leastLogProb: 0, expand: Int32Array.of(0) };

/** Inputs that only the width decides. */
type WidthFeeds = Readonly<Record<'width' | 'siblings' | 'sibling_mask', ort.Tensor>>;

/**
 * KV rows of the pairs of one sequence, oldest first, in float32: they are those of one layer, hardly any memory. Pair t is
 * token t + 1 with the feature of position t. A row depends on its own pair alone, the layer being the first of its
 * network: rows that are left out at the beginning leave the others right.
 */
export class DraftHeadRows {
  readonly #session: ort.InferenceSession;
  readonly #info: DraftHeadInfo;
  #keys = new Float32Array(0); // [kvHeads, capacity, headDim]
  #values = new Float32Array(0);
  #capacity = 0;
  /** The pair of the first row. */
  #start = 0;
  /** The pair after the last row. */
  #end = 0;
  #rowFeeds: Record<'keys' | 'values', ort.Tensor>;
  #widthFeeds = new Map<number, WidthFeeds>();

  constructor(session: ort.InferenceSession, info: DraftHeadInfo) {
    this.#session = session;
    this.#info = info;
    this.#rowFeeds = this.#resize(CAPACITY_STEP);
  }

  /** The first pair that has a row. */
  get start(): number {
    return this.#start;
  }

  /** The first pair that has none yet. */
  get end(): number {
    return this.#end;
  }

  get bytes(): number {
    return this.#keys.byteLength + this.#values.byteLength;
  }

  /** Forgets the rows from pair `end` on. */
  truncate(end: number): void {
    this.#end = Math.max(this.#start, Math.min(this.#end, end));
  }

  /** Forgets all rows: the next pair is `start`. */
  restart(start: number): void {
    this.#start = start;
    this.#end = start;
  }

  /** Adds the rows of the next pairs. */
  async append(pairs: Pairs): Promise<void> {
    await this.#run(pairs, ONE_TOKEN, ['rows']);
  }

  /** Adds the rows of the next pairs and drafts what follows the last of them. */
  async draft(pairs: Pairs, limits: TreeLimits): Promise<DraftCandidates> {
    const fetches = ['candidate_tokens', 'candidate_log_probs', 'expanded', 'rows'];
    const outputs = await this.#run(pairs, limits, fetches);
    return {
      width: limits.width,
      tokens: toInt32(outputs.candidate_tokens),
      logProbs: impossibleWhereNaN(outputs.candidate_log_probs.data as Float32Array),
      expanded: toInt32(outputs.expanded),
    };
  }

  async #run(pairs: Pairs, limits: TreeLimits, fetches: string[]) {
    const feeds = { ...this.#rowFeeds, ...this.#pairFeeds(pairs, limits), ...this.#treeFeeds(pairs, limits) };
    try {
      const outputs = await this.#session.run(feeds, fetches);
      this.#keep(outputs.rows, pairs.tokens.length);
      return outputs;
    } catch (cause) {
      throw cpuFault(cause, (said) => ({ code: 'internal', message: `The head could not be run: ${said}` }));
    }
  }

  #pairFeeds({ tokens, features }: Pairs, { levels }: TreeLimits): Record<string, ort.Tensor> {
    const count = tokens.length;
    const positions = BigInt64Array.from({ length: count }, (_, i) => BigInt(this.#end + i));
    // Rotary positions are relative: whether they begin anew with the window or go on growing is all the same. What matters
    // is that the deepest token sees no further back than the head was trained to.
    const oldest = this.#end + count - 1 + levels - this.#info.window;
    const pastMask = maskBefore(oldest - this.#start, this.#capacity);
    pastMask.fill(HIDDEN, this.#end - this.#start);
    return {
      features: new ort.Tensor('float32', features, [count, this.#info.featureWidth]),
      tokens: new ort.Tensor('int64', BigInt64Array.from(tokens, BigInt), [1, count]),
      positions: new ort.Tensor('int64', positions, [1, count]),
      last: int64([count - 1]),
      pair_mask: new ort.Tensor('float32', maskBefore(oldest - this.#end, count), [1, count]),
      past_mask: new ort.Tensor('float32', pastMask, [1, this.#capacity]),
    };
  }

  #treeFeeds({ tokens }: Pairs, limits: TreeLimits): Record<string, ort.Tensor> {
    const { levels, width, leastLogProb } = limits;
    const next = BigInt64Array.from({ length: width }, () => BigInt(this.#end + tokens.length));
    return {
      ...this.#feedsOfWidth(width),
      levels: new ort.Tensor('int64', BigInt64Array.of(BigInt(levels)), []),
      least_log_prob: new ort.Tensor('float32', [leastLogProb], []),
      next_positions: new ort.Tensor('int64', next, [1, width]),
      ...(this.#info.expansion === 'given' && { expand: expandTensor(limits) }),
    };
  }

  #feedsOfWidth(width: number): WidthFeeds {
    const known = this.#widthFeeds.get(width);
    if (known) return known;
    const mask = new Float32Array(width * width).fill(HIDDEN);
    for (let i = 0; i < width; i++) mask[i * width + i] = 0;
    const feeds = {
      width: int64([width]),
      siblings: int64(Array.from({ length: width }, (_, i) => i)),
      sibling_mask: new ort.Tensor('float32', mask, [width, width]),
    };
    this.#widthFeeds.set(width, feeds);
    return feeds;
  }

  /** @param rows [1, 2 * kvHeads, R, headDim], the first `count` of R */
  #keep({ data, dims }: ort.Tensor, count: number): void {
    const { kvHeads, headDim } = this.#info;
    this.#makeRoom(count);
    const rows = data as Float32Array;
    const place = this.#end - this.#start;
    for (let head = 0; head < 2 * kvHeads; head++) {
      const buffer = head < kvHeads ? this.#keys : this.#values;
      const from = head * dims[2] * headDim;
      const to = ((head % kvHeads) * this.#capacity + place) * headDim;
      buffer.set(rows.subarray(from, from + count * headDim), to);
    }
    this.#end += count;
  }

  #makeRoom(count: number): void {
    const largest = this.#info.window + 2 * SPARE_ROWS;
    if (this.#end + count - this.#start > Math.max(largest, count)) {
      this.#dropBefore(Math.min(this.#end, this.#end + count - this.#info.window - SPARE_ROWS));
    }
    const needed = this.#end + count - this.#start;
    const capacity = Math.ceil(needed / CAPACITY_STEP) * CAPACITY_STEP;
    // Every step attends to the whole capacity: one that was made for a much longer sequence is given back.
    if (capacity > this.#capacity || 2 * capacity <= this.#capacity) this.#rowFeeds = this.#resize(capacity);
  }

  #dropBefore(start: number): void {
    const { kvHeads, headDim } = this.#info;
    const [from, to] = [start - this.#start, this.#end - this.#start];
    for (const buffer of [this.#keys, this.#values]) {
      for (let head = 0; head < kvHeads; head++) {
        const first = head * this.#capacity;
        buffer.copyWithin(first * headDim, (first + from) * headDim, (first + to) * headDim);
      }
    }
    this.#start = start;
  }

  /** Tensors over the buffers themselves: made once a capacity, read in place by every run. */
  #resize(capacity: number): Record<'keys' | 'values', ort.Tensor> {
    const { kvHeads, headDim } = this.#info;
    const used = (this.#end - this.#start) * headDim;
    const grow = (buffer: Float32Array) => {
      const grown = new Float32Array(kvHeads * capacity * headDim);
      for (let head = 0; head < kvHeads; head++) {
        const from = head * this.#capacity * headDim;
        grown.set(buffer.subarray(from, from + used), head * capacity * headDim);
      }
      return grown;
    };
    this.#keys = grow(this.#keys);
    this.#values = grow(this.#values);
    this.#capacity = capacity;
    const shape = [1, kvHeads, capacity, headDim];
    return {
      keys: new ort.Tensor('float32', this.#keys, shape),
      values: new ort.Tensor('float32', this.#values, shape),
    };
  }
}

function expandTensor({ levels, width, expand }: TreeLimits): ort.Tensor {
  const places = BigInt64Array.from(expand!.subarray(0, levels * width), BigInt);
  return new ort.Tensor('int64', places, [levels, width]);
}

/** [size]: hides the first `hidden`. */
function maskBefore(hidden: number, size: number): Float32Array {
  return new Float32Array(size).fill(HIDDEN, 0, Math.max(0, Math.min(hidden, size)));
}

function int64(values: readonly number[]): ort.Tensor {
  return new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [values.length]);
}

function toInt32({ data }: ort.Tensor): Int32Array {
  return Int32Array.from(data as BigInt64Array, Number);
}
