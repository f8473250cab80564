/**
 * The positions of a token array by the hash of the last `span` tokens up to and with each, newest first:
 * the chains of LZ77 coders (zlib's `head` and `prev`). Position 0 is "none".
 */
export class HashChain {
  readonly span: number;
  readonly #heads: Int32Array;
  readonly #previous: Int32Array;
  readonly #shift: number;

  /**
   * @param capacity positions to hold
   * @param positionsPerBucket a power of two; more saves memory and lengthens the walks
   */
  constructor(span: number, capacity: number, positionsPerBucket: number) {
    const bits = Math.max(4, Math.round(Math.log2(capacity / positionsPerBucket)));
    this.span = span;
    this.#shift = 32 - bits;
    this.#heads = new Int32Array(1 << bits);
    this.#previous = new Int32Array(capacity);
  }

  get bytes(): number {
    return this.#heads.byteLength + this.#previous.byteLength;
  }

  newest(hash: number): number {
    return this.#heads[spread(hash) >>> this.#shift];
  }

  older(position: number): number {
    return this.#previous[position];
  }

  push(hash: number, position: number): void {
    const bucket = spread(hash) >>> this.#shift;
    this.#previous[position] = this.#heads[bucket];
    this.#heads[bucket] = position;
  }

  /** Takes a position out of its chain. `newer` is the one before it there, 0 when it is the newest. */
  unlink(hash: number, newer: number, position: number): void {
    if (newer === 0) this.#heads[spread(hash) >>> this.#shift] = this.#previous[position];
    else this.#previous[newer] = this.#previous[position];
  }

  /** Undoes the last `push`, which has to be this one. */
  pop(hash: number, position: number): void {
    this.#heads[spread(hash) >>> this.#shift] = this.#previous[position];
  }
}

/** Fibonacci hashing: the high bits of the product depend on all bits of the hash. */
function spread(hash: number): number {
  return Math.imul(hash ^ (hash >>> 15), 0x9e3779b1);
}

const BASE = 0x01000193;

/** A polynomial hash (modulo 2^32) of tokens[end - span, end). */
export function hashBefore(tokens: TokenArray, end: number, span: number): number {
  let hash = 0;
  for (let i = end - span; i < end; i++) hash = (Math.imul(hash, BASE) + tokens[i] + 1) | 0;
  return hash;
}

export type TokenArray = Uint16Array | Int32Array;

/** What `rolled` needs to take the oldest token out of a window of `span`. */
export function oldestWeight(span: number): number {
  let weight = 1;
  for (let i = 0; i < span; i++) weight = Math.imul(weight, BASE);
  return weight;
}

/** The hash of a window moved on by one token, in constant time (Rabin-Karp). */
export function rolled(hash: number, added: number, dropped: number, weight: number): number {
  return (Math.imul(hash, BASE) + added + 1 - Math.imul(dropped + 1, weight)) | 0;
}
