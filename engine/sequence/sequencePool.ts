/** Rows that stand for the first tokens of a text: the target's, or those that a drafter keeps of its own. */
export interface PooledSequence {
  readonly bytes: number;
  /** Tokens that it has rows of. */
  readonly rows: number;
  /** How many leading tokens have their rows here already. */
  reusable(tokens: Int32Array): number;
  /** Gives back what the garbage collector does not. */
  dispose?(): void;
}

/** Reusing fewer rows than this is not worth giving up those that a sequence holds, unless they are hardly more. */
const WORTH_REUSING = 32;

/**
 * A prefix cache: idle sequences, whose rows serve a text that begins alike. A keystroke finds the sequence of the
 * keystroke before; going back to another document finds the one that was left there. Who works on one takes it out and
 * puts it back, so that two that run at the same time never share one.
 */
export class SequencePool<Sequence extends PooledSequence> {
  readonly #create: (tokens: Int32Array) => Sequence;
  readonly #limit: number;
  /** Least recently used first. */
  readonly #idle: Sequence[] = [];

  constructor(create: (tokens: Int32Array) => Sequence, limit: number) {
    this.#create = create;
    this.#limit = limit;
  }

  /** Bytes that idle sequences hold. */
  get bytes(): number {
    return this.#idle.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Hands a sequence over to its new owner, who gives it back with `release`. */
  acquire(tokens: Int32Array): Sequence {
    const sequence = this.#choose(tokens);
    if (!sequence) return this.#create(tokens);
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

  /** The one that is worth reusing; with no space for another one, the one that nobody has asked for longest. */
  #choose(tokens: Int32Array): Sequence | undefined {
    let best: Sequence | undefined;
    let most = -1;
    for (const sequence of this.#idle) {
      const reusable = sequence.reusable(tokens);
      if (reusable > most) [best, most] = [sequence, reusable];
    }
    if (best && (most >= WORTH_REUSING || 2 * most >= best.rows)) return best;
    return this.#idle.length < this.#limit ? undefined : this.#idle[0];
  }
}
