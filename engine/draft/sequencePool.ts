/** What a learned drafter keeps of one sequence: rows of its own that stand for the target's first tokens. */
export interface DraftSequence {
  readonly bytes: number;
  /** Tokens that it has rows of. */
  readonly length: number;
  /** How many tokens at the beginning are the same. */
  shared(tokens: Int32Array): number;
  /** Gives back what the garbage collector does not. */
  dispose?(): void;
}

/** Catching up with fewer tokens than this is not worth giving up what another sequence holds, unless that is hardly more. */
const WORTH_REUSING = 32;

/**
 * A drafter's prefix cache: rows of the sequences that the target lately worked on. Whoever drafts takes a sequence out and
 * puts it back, so that sessions that run at the same time never share one.
 */
export class SequencePool<Sequence extends DraftSequence> {
  readonly #create: () => Sequence;
  readonly #limit: number;
  /** Least recently used first. */
  readonly #idle: Sequence[] = [];

  constructor(create: () => Sequence, limit: number) {
    this.#create = create;
    this.#limit = limit;
  }

  get bytes(): number {
    return this.#idle.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  acquire(tokens: Int32Array): Sequence {
    const sequence = this.#choose(tokens);
    if (!sequence) return this.#create();
    this.#idle.splice(this.#idle.indexOf(sequence), 1);
    return sequence;
  }

  release(sequence: Sequence): void {
    this.#idle.push(sequence);
    if (this.#idle.length > this.#limit) this.#idle.shift()?.dispose?.();
  }

  dispose(): void {
    for (const sequence of this.#idle.splice(0)) sequence.dispose?.();
  }

  /** The one that shares most; with no space for another one, the least recently used one in the end. */
  #choose(tokens: Int32Array): Sequence | undefined {
    let best: Sequence | undefined;
    let most = -1;
    for (const sequence of this.#idle) {
      const shared = sequence.shared(tokens);
      if (shared > most) [best, most] = [sequence, shared];
    }
    if (best && (most >= WORTH_REUSING || 2 * most >= best.length)) return best;
    return this.#idle.length < this.#limit ? undefined : this.#idle[0];
  }
}
