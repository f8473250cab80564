import type { DraftHead } from '../model/draftHead.ts';
import { EagleSequence } from './eagleSequence.ts';

/** Fewer tokens are caught up with sooner than another sequence is given up for them. */
const WORTH_REUSING = 32;

/**
 * The head's prefix cache: rows of the sequences that the target lately worked on. Whoever drafts takes a sequence out and
 * puts it back, so that sessions that run at the same time never share one.
 */
export class EagleSequences {
  readonly #head: DraftHead;
  readonly #limit: number;
  /** Least recently used first. */
  readonly #idle: EagleSequence[] = [];

  constructor(head: DraftHead, limit: number) {
    this.#head = head;
    this.#limit = limit;
  }

  get bytes(): number {
    return this.#idle.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  acquire(tokens: Int32Array): EagleSequence {
    const sequence = this.#choose(tokens);
    if (!sequence) return new EagleSequence(this.#head);
    this.#idle.splice(this.#idle.indexOf(sequence), 1);
    return sequence;
  }

  release(sequence: EagleSequence): void {
    this.#idle.push(sequence);
    if (this.#idle.length > this.#limit) this.#idle.shift();
  }

  /** The one that shares most; with no space for another one, the least recently used one in the end. */
  #choose(tokens: Int32Array): EagleSequence | undefined {
    let best: EagleSequence | undefined;
    let most = -1;
    for (const sequence of this.#idle) {
      const shared = sequence.shared(tokens);
      if (shared > most) [best, most] = [sequence, shared];
    }
    if (best && (most >= WORTH_REUSING || 2 * most >= best.length)) return best;
    return this.#idle.length < this.#limit ? undefined : this.#idle[0];
  }
}
