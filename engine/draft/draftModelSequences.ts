import { idleSessions } from '../config.ts';
import type { ForwardBatch, LanguageModel } from '../model/languageModel.ts';
import { SequencePool } from '../sequence/sequencePool.ts';
import { DraftModelSequence } from './draftModelSequence.ts';
import { type ContextLengths, draftWindow } from './draftModelWindow.ts';

/** What a draft model knows of the sequences that the target lately worked on, each through a window as long as its context. */
export class DraftModelSequences {
  readonly #contexts: ContextLengths;
  readonly #pool: SequencePool<DraftModelSequence>;

  /** @param want of each prediction */
  constructor(model: LanguageModel, targetContextLength: number, want: ForwardBatch['want']) {
    this.#contexts = { draft: model.info.contextLength, target: targetContextLength };
    this.#pool = new SequencePool(() => new DraftModelSequence(model, want), idleSessions);
  }

  get bytes(): number {
    return this.#pool.bytes;
  }

  /**
   * Drafts after `tokens`, all of the target's.
   *
   * @param signal once it is aborted, no work is done for the drafts after these
   * @param work takes the sequence, what of the tokens it stands for, and how many levels fit the draft model's context
   */
  async draft<T>(
    tokens: Int32Array,
    signal: AbortSignal | undefined,
    work: (sequence: DraftModelSequence, window: Int32Array, deepest: number) => Promise<T>,
  ): Promise<T> {
    const { start, next } = draftWindow(tokens.length, this.#contexts);
    const window = tokens.subarray(start);
    const sequence = this.#pool.acquire(window);
    try {
      const drafted = await work(sequence, window, this.#contexts.draft - window.length + 1);
      const isAhead = sequence.rows >= window.length && !signal?.aborted;
      if (next && isAhead) await this.#prepare(tokens.subarray(next.start), next.due);
      return drafted;
    } finally {
      this.#pool.release(sequence);
    }
  }

  dispose(): void {
    this.#pool.dispose();
  }

  /** While the sequence in use is taken out of the pool, so that the two never are the same. */
  async #prepare(window: Int32Array, due: number): Promise<void> {
    const sequence = this.#pool.acquire(window);
    try {
      await sequence.prepare(window, due);
    } finally {
      this.#pool.release(sequence);
    }
  }
}
