import { HashChain, hashBefore, oldestWeight, rolled, type TokenArray } from './hashChain.ts';
import type { MatchList } from './matchList.ts';

/** Context lengths that are hashed: every match of at least `short` can be found, from `long` on exactly. */
export interface Spans {
  readonly short: number;
  readonly long: number;
}

/** Longest match that is told from a longer one. */
export const MAX_MATCH = 32;

const NARROW_SEPARATOR = 0xffff;

/** Whether 16 bits hold a token or the separator. */
export function isNarrow(vocabSize: number): boolean {
  return vocabSize <= NARROW_SEPARATOR;
}

/** A token costs 2 (or 4) + 2 * (4 + 1) bytes. At 2 a bucket lookups were little faster. */
const POSITIONS_PER_BUCKET = 4;

/**
 * Texts in one token array of fixed capacity, kept apart by separators, with two hash chains over them: all
 * places where the last few tokens occurred can be visited, newest first. Append-only at the end, erasable
 * anywhere.
 */
export class ChainedTokens {
  /** Texts with a separator before, between and after them: reading always ends at one. */
  readonly tokens: TokenArray;
  readonly separator: number;
  readonly #vocabSize: number;
  readonly #short: HashChain;
  readonly #long: HashChain;
  readonly #longWeight: number;
  #length = 1;

  constructor(capacity: number, vocabSize: number, spans: Spans) {
    const narrow = isNarrow(vocabSize);
    this.tokens = narrow ? new Uint16Array(capacity + 2) : new Int32Array(capacity + 2);
    this.separator = narrow ? NARROW_SEPARATOR : -1;
    this.#vocabSize = vocabSize;
    this.#short = new HashChain(spans.short, capacity + 2, POSITIONS_PER_BUCKET);
    this.#long = new HashChain(spans.long, capacity + 2, POSITIONS_PER_BUCKET);
    this.#longWeight = oldestWeight(spans.long);
    this.tokens[0] = this.separator;
    this.tokens[1] = this.separator;
  }

  /** Tokens and separators held; the next append goes here. Starts at 1, after the first separator. */
  get length(): number {
    return this.#length;
  }

  /** Tokens (or separators) that can still be appended. */
  get room(): number {
    return this.tokens.length - 1 - this.#length;
  }

  get bytes(): number {
    return this.tokens.byteLength + this.#short.bytes + this.#long.bytes;
  }

  /** Continues the last text with source[from, to). Anything outside the vocabulary becomes a separator. */
  append(source: ArrayLike<number>, from: number, to: number): void {
    const { tokens } = this;
    const short = this.#short;
    const long = this.#long;
    let run = this.#runLength();
    let hash = hashBefore(tokens, this.#length, Math.min(run, long.span));
    for (let i = from; i < to; i++) {
      const token = source[i];
      const at = this.#length++;
      if (!(token >= 0 && token < this.#vocabSize)) {
        tokens[at] = this.separator;
        run = 0;
        hash = 0;
        continue;
      }
      tokens[at] = token;
      run++;
      hash =
        run > long.span
          ? rolled(hash, token, tokens[at - long.span], this.#longWeight)
          : hashBefore(tokens, at + 1, run);
      if (run >= short.span) short.push(hashBefore(tokens, at + 1, short.span), at);
      if (run >= long.span) long.push(hash, at);
    }
    tokens[this.#length] = this.separator;
  }

  /** Ends the current text. */
  separate(): void {
    this.tokens[++this.#length] = this.separator;
  }

  /** Drops everything from `length` on. Time in proportion to what is dropped, nothing of which may be erased. */
  truncate(length: number): void {
    while (this.#length > length) {
      const at = this.#length - 1;
      const run = this.#runLength();
      if (run >= this.#long.span) this.#long.pop(hashBefore(this.tokens, at + 1, this.#long.span), at);
      if (run >= this.#short.span) this.#short.pop(hashBefore(this.tokens, at + 1, this.#short.span), at);
      this.#length = at;
    }
    this.tokens[this.#length] = this.separator;
  }

  /** Makes the tokens in [start, end) unfindable; their room is not reused. */
  erase(start: number, end: number): void {
    this.tokens.fill(this.separator, start, end);
  }

  /** Offers every place whose last `long` tokens are the query's. */
  matchLong(query: TokenArray, matches: MatchList): void {
    this.#walk(this.#long, query, matches);
  }

  /** Offers every place whose last `short` tokens are the query's. */
  matchShort(query: TokenArray, matches: MatchList): void {
    this.#walk(this.#short, query, matches);
  }

  #walk(chain: HashChain, query: TokenArray, matches: MatchList): void {
    if (query.length < chain.span) return;
    const { tokens, separator } = this;
    const hash = hashBefore(query, query.length, chain.span);
    let newer = 0;
    let at = chain.newest(hash);
    while (at !== 0 && matches.step()) {
      const older = chain.older(at);
      if (tokens[at] === separator) {
        // Erased: the next walk need not come here again.
        chain.unlink(hash, newer, at);
      } else {
        const length = matchLength(tokens, at, query);
        if (length >= chain.span && tokens[at + 1] !== separator) matches.offer(length, this, at + 1);
        newer = at;
      }
      at = older;
    }
  }

  /** Tokens since the last separator, as far as the longer chain needs to know. */
  #runLength(): number {
    let run = 0;
    while (run <= this.#long.span && this.tokens[this.#length - 1 - run] !== this.separator) run++;
    return run;
  }
}

/** How many tokens up to and with `at` equal the end of the query. Separators equal nothing. */
function matchLength(tokens: TokenArray, at: number, query: TokenArray): number {
  let length = 0;
  const last = query.length - 1;
  while (length <= last && tokens[at - length] === query[last - length]) length++;
  return length;
}
