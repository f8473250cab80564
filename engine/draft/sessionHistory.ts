import { ChainedTokens, MAX_MATCH, type Spans } from '../workspace/chainedTokens.ts';
import type { TokenArray } from '../workspace/hashChain.ts';
import { type Match, MatchList } from '../workspace/matchList.ts';
import type { SessionView } from './drafter.ts';

/** Measured on code: in the text at hand even one token says something about the next. */
const SPANS: Spans = { short: 1, long: 4 };

const MATCHES = 32;
const STEPS = 256;

/**
 * The session's own tokens, searchable, in the order in which they are read: first what stands elsewhere in the
 * prompt, then the text before the cursor and what was generated after it. Control tokens separate texts. A step
 * costs what it adds; a keystroke costs what it changes.
 */
export class SessionHistory {
  readonly #vocabSize: number;
  readonly #specialTokenIds: ReadonlySet<number>;
  #text: ChainedTokens;
  #session: number | undefined;
  #tokensSeen = 0;
  #cursorTail: TokenArray;

  constructor(vocabSize: number, specialTokenIds: ReadonlySet<number>) {
    this.#vocabSize = vocabSize;
    this.#specialTokenIds = specialTokenIds;
    this.#text = new ChainedTokens(4096, vocabSize, SPANS);
    this.#cursorTail = this.tail();
  }

  get bytes(): number {
    return this.#text.bytes;
  }

  /** The text just before the cursor, as `tail` was before anything was generated. */
  get cursorTail(): TokenArray {
    return this.#cursorTail;
  }

  /** Takes in what is new in the view. @returns whether another session began */
  follow(view: SessionView): boolean {
    const begins = view.id !== this.#session;
    if (begins) {
      this.#restart(this.#readingOrder(view));
      this.#cursorTail = this.tail();
      this.#session = view.id;
      this.#tokensSeen = view.promptLength;
    }
    const generated = this.#textOnly(view.tokens.subarray(this.#tokensSeen));
    this.#append(generated, 0);
    this.#tokensSeen = view.tokens.length;
    return begins;
  }

  /** The text just before the next token: at most 32 tokens, none of them a control token. */
  tail(): TokenArray {
    const { tokens, separator, length } = this.#text;
    let start = length;
    while (length - start < MAX_MATCH && tokens[start - 1] !== separator) start--;
    return tokens.slice(start, length);
  }

  /** Earlier places that share the longest end with `query`: as `NgramIndex.lookup`, from one token on. */
  lookup(query: TokenArray): readonly Match[] {
    const long = new MatchList(MATCHES, query.length, STEPS);
    this.#text.matchLong(query, long);
    if (long.matches.length > 0) return long.matches;
    const short = new MatchList(MATCHES, query.length, STEPS);
    this.#text.matchShort(query, short);
    return short.matches;
  }

  #readingOrder({ tokens, promptLength, prefix }: SessionView): Int32Array {
    const ordered = new Int32Array(promptLength + 1);
    ordered.set(tokens.subarray(0, prefix.start));
    ordered.set(tokens.subarray(prefix.end, promptLength), prefix.start);
    const rest = promptLength - (prefix.end - prefix.start);
    ordered[rest] = -1;
    ordered.set(tokens.subarray(prefix.start, prefix.end), rest + 1);
    return this.#textOnly(ordered);
  }

  #textOnly(tokens: Int32Array): Int32Array {
    return tokens.map((token) => (this.#specialTokenIds.has(token) ? -1 : token));
  }

  #restart(prompt: Int32Array): void {
    const { tokens, separator, length } = this.#text;
    let same = 0;
    const comparable = Math.min(prompt.length, length - 1);
    while (same < comparable && tokens[1 + same] === (prompt[same] < 0 ? separator : prompt[same])) same++;
    this.#text.truncate(1 + same);
    this.#append(prompt, same);
  }

  #append(tokens: Int32Array, from: number): void {
    if (this.#text.room < tokens.length - from) this.#makeRoom(tokens.length - from);
    this.#text.append(tokens, from, tokens.length);
  }

  #makeRoom(needed: number): void {
    const old = this.#text;
    this.#text = new ChainedTokens(2 * (old.length + needed), this.#vocabSize, SPANS);
    this.#text.append(old.tokens, 1, old.length);
  }
}
