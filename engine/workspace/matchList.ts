import type { ChainedTokens } from './chainedTokens.ts';

/** A place where the text before it equals the end of the query. */
export interface Match {
  /** Equal tokens, at most the query's length. */
  readonly length: number;
  readonly text: ChainedTokens;
  /** Position in `text.tokens` of the first token after the match; it continues until `text.separator`. */
  readonly next: number;
}

/** The best matches offered so far: longest first, among equals those offered first (the newest). */
export class MatchList {
  readonly matches: Match[] = [];
  readonly #limit: number;
  readonly #longest: number;
  #steps: number;

  /**
   * @param longest no match can be longer, so a list full of these is final
   * @param steps places that may be looked at: bounds the time of a lookup
   */
  constructor(limit: number, longest: number, steps: number) {
    this.#limit = limit;
    this.#longest = longest;
    this.#steps = steps;
  }

  /** Whether to look at one more place. */
  step(): boolean {
    return this.#steps-- > 0 && !this.#final();
  }

  offer(length: number, text: ChainedTokens, next: number): void {
    const { matches } = this;
    if (matches.length === this.#limit) {
      if (length <= matches[matches.length - 1].length) return;
      matches.pop();
    }
    let at = matches.length;
    while (at > 0 && matches[at - 1].length < length) at--;
    matches.splice(at, 0, { length, text, next });
  }

  #final(): boolean {
    return this.matches.length === this.#limit && this.matches[this.#limit - 1].length >= this.#longest;
  }
}
