import { isNarrow } from '../workspace/chainedTokens.ts';
import type { TokenArray } from '../workspace/hashChain.ts';

/** With 4 successors of 4 bytes each the table stays under 1.6 MB, whatever the vocabulary. */
const SLOT_BITS = 16;

/**
 * What the target last held most probable after a context: the adjacency matrix of token recycling (arXiv 2408.08696,
 * section 3.1), with rows for contexts of several tokens too. Rows share a fixed number of slots: the newest one stays.
 */
export class SuccessorTable {
  readonly width: number;
  readonly #contexts = new Int32Array(1 << SLOT_BITS); // [slot]
  readonly #sessions = new Int32Array(1 << SLOT_BITS); // [slot], 0: empty
  readonly #successors: TokenArray; // [slot, width]

  constructor(vocabSize: number, width: number) {
    const size = width << SLOT_BITS;
    this.width = width;
    this.#successors = isNarrow(vocabSize) ? new Uint16Array(size) : new Int32Array(size);
  }

  get bytes(): number {
    return this.#contexts.byteLength + this.#sessions.byteLength + this.#successors.byteLength;
  }

  /**
   * @param context hash of the context
   * @returns the slot that holds its successors; -1: nothing is known of it
   */
  find(context: number): number {
    const slot = slotOf(context);
    return this.#contexts[slot] === context && this.#sessions[slot] !== 0 ? slot : -1;
  }

  successor(slot: number, rank: number): number {
    return this.#successors[slot * this.width + rank];
  }

  /** The session in which the target said so. */
  session(slot: number): number {
    return this.#sessions[slot];
  }

  /**
   * @param successors best first; of a tiny vocabulary fewer than `width`
   * @param session any number but 0
   */
  refresh(context: number, successors: Int32Array, session: number): void {
    const slot = slotOf(context);
    this.#contexts[slot] = context;
    this.#sessions[slot] = session;
    for (let rank = 0; rank < this.width; rank++) {
      this.#successors[slot * this.width + rank] = successors[Math.min(rank, successors.length - 1)];
    }
  }
}

/** Fibonacci hashing: the high bits of the product depend on all bits of the hash. */
function slotOf(context: number): number {
  return Math.imul(context ^ (context >>> 15), 0x9e3779b1) >>> (32 - SLOT_BITS);
}
