/** A pass cannot be interrupted; this is how long one may take, so that a cancel is felt within 50 ms. */
const PASS_MS = 25;
/** Passes over one token that a pass may take as long as: where they are slow, most of one is the weights' way from memory. */
const SINGLE_PASSES = 2;
/** Passes after which that is measured anew: machines become faster and slower. */
const SINGLE_EVERY = 16;
const LARGEST_CHUNK = 256;
const FIRST_CHUNK = 8;

/** How many tokens a pass takes in the time that it may on this model and machine: learned from every chunk. */
export class PrefillPace {
  #chunk = FIRST_CHUNK;
  /** What a pass over one token takes at most; 0 before there was one. */
  #singleMs = 0;
  #passesSinceSingle = SINGLE_EVERY;
  #isSingleDue = false;

  get chunk(): number {
    return this.#isSingleDue ? 1 : this.#chunk;
  }

  observe(tokens: number, ms: number): void {
    this.#observeSingle(tokens, ms);
    const allowedMs = Math.max(PASS_MS, SINGLE_PASSES * this.#singleMs);
    const inTime = Math.floor((allowedMs * tokens) / ms);
    if (ms > allowedMs) this.#chunk = Math.max(1, inTime);
    // A rest says nothing about larger chunks: tokens are cheaper in company.
    else if (tokens >= this.#chunk) this.#chunk = Math.min(inTime, 2 * this.#chunk, LARGEST_CHUNK);
    // Chunks that never come near the limit can do without it.
    this.#isSingleDue = inTime < 2 * tokens && this.#passesSinceSingle >= SINGLE_EVERY;
  }

  #observeSingle(tokens: number, ms: number): void {
    // No pass takes less than one over a single token.
    this.#singleMs = tokens === 1 ? ms : Math.min(ms, this.#singleMs);
    this.#passesSinceSingle = tokens === 1 ? 0 : this.#passesSinceSingle + 1;
  }
}
