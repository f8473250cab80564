import type { Device } from '../compile/precision.ts';

/** Facts of a loaded model that the rest of the engine needs. */
export interface ModelInfo {
  readonly name: string;
  readonly family: string;
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly layers: number;
  /** Hidden streams that it hands out a token. */
  readonly tapCount: number;
  /** Longest context in tokens that positions are defined for. */
  readonly contextLength: number;
  readonly eosTokenIds: readonly number[];
  readonly precision: string;
  readonly device: Device;
  readonly weightBytes: number;
}

/** New tokens to evaluate on top of a KV cache's committed rows. */
export interface ForwardBatch {
  readonly tokens: Int32Array; // [T]
  /** [T], index of the parent inside the batch or -1: continues the committed rows. Absent: a chain. */
  readonly parents?: Int32Array;
  /** Rows of the batch whose next-token prediction is wanted, ascending. Prefill asks for the last or none. */
  readonly rows: Int32Array; // [R]
  /** Fetching logits costs time in proportion to R * vocabSize; argmax alone is nearly free. */
  readonly want: 'argmax' | 'logits';
}

export interface ForwardOutput {
  readonly argmax: Int32Array; // [R]
  readonly logits?: Float32Array; // [R, vocab], with want: 'logits'
  /** Hidden states at the tapped layers, in the order the model was opened with: each [T, hidden]. */
  readonly taps: readonly Float32Array[];
  /** The most probable next tokens, best first, of a model that was opened for it. */
  readonly successors?: Int32Array; // [R, k]
  /** The logarithm of their probabilities, of a model that was opened for that. */
  readonly successorLogProbs?: Float32Array; // [R, k]
}

/**
 * The rows of one sequence. A forward pass leaves the batch's rows pending; commit keeps the accepted ones,
 * in order, and drops the rest. One owner at a time: a decoding session.
 */
export interface KvCache {
  /** Committed rows (tokens). */
  readonly length: number;
  /**
   * Tokens on the longest path of a batch, at most, for its results to be those of its tokens one by one, bit for bit.
   * Infinity on a device that does not promise that for any batch.
   */
  readonly exactDepth: number;
  /** Runs the batch. Rejects with SlipstreamError. Any rows still pending from an earlier call are dropped. */
  forward(batch: ForwardBatch): Promise<ForwardOutput>;
  /** Commits rows of the last batch: indices into the batch, a root-to-leaf path, ascending. */
  commit(path: readonly number[] | Int32Array): Promise<void> | void;
  /** Forgets all committed rows from `length` on. */
  truncate(length: number): void;
  /** Makes space for this many rows in all; much more than that may be given back. */
  reserve(rows: number): void;
  /** Bytes held. */
  readonly bytes: number;
  dispose(): void;
}

export interface LanguageModel {
  readonly info: ModelInfo;
  /** @param capacity rows that will be needed soon; the cache grows past it on its own */
  createKvCache(capacity: number): KvCache;
  dispose(): Promise<void>;
}
