import { ChainedTokens, type Spans } from '../workspace/chainedTokens.ts';
import type { TokenArray } from '../workspace/hashChain.ts';
import { type Match, MatchList } from '../workspace/matchList.ts';

/** A cursor in a document. */
export interface CursorPlace {
  readonly document: string;
  /** The document's text up to the cursor: all of it or its last lines. */
  readonly textBefore: string;
}

interface Suggestion {
  readonly document: string;
  /** The end of the text before the cursor, then what was generated. */
  readonly text: string;
  readonly tokens: ArrayLike<number>;
}

const SPANS: Spans = { short: 2, long: 6 };
const REMEMBERED = 8;
const CONTEXT_CHARACTERS = 256;
/** Equal characters before two cursors that make them the same place. */
const SAME_PLACE_CHARACTERS = 48;

/**
 * What was generated lately at and around a place: as long as the user types along (or deletes again), the rest
 * of it is the best draft there is; after a divergence, a part of it may still come back.
 */
export class LastSuggestion {
  readonly #encode: (text: string) => ArrayLike<number>;
  readonly #vocabSize: number;
  #suggestions: Suggestion[] = []; // newest first
  #place: CursorPlace | undefined;
  #rests: ArrayLike<number>[] = [];
  #others: ArrayLike<number>[] = [];
  #text: ChainedTokens;

  constructor(encode: (text: string) => ArrayLike<number>, vocabSize: number) {
    this.#encode = encode;
    this.#vocabSize = vocabSize;
    this.#text = new ChainedTokens(0, vocabSize, SPANS);
  }

  /** Keeps what was generated at a place, a cancelled or rejected suggestion too. */
  record({ document, textBefore }: CursorPlace, generated: string): void {
    if (generated === '') return;
    const text = textBefore.slice(-CONTEXT_CHARACTERS) + generated;
    const others = this.#suggestions.filter((known) => known.document !== document || known.text !== text);
    const tokens = this.#encode(text);
    this.#suggestions = [{ document, text, tokens }, ...others].slice(0, REMEMBERED);
  }

  /** Where text is to be suggested. Call it before the session's first step, when what came before is recorded. */
  begin(place: CursorPlace): void {
    this.#place = place;
  }

  /** Joins what may follow there to the tokens before the cursor. Called by the drafter when a session begins. */
  attach(cursorTail: TokenArray): void {
    this.#chooseTexts();
    this.#text = this.#joinedTo(cursorTail);
  }

  /** Only now: a session that drafts otherwise, or not at all, needs none of them encoded. */
  #chooseTexts(): void {
    this.#rests = [];
    this.#others = [];
    if (!this.#place) return;
    const { document, textBefore } = this.#place;
    for (const suggestion of this.#suggestions) {
      if (suggestion.document !== document) continue;
      const rest = restAfter(suggestion.text, textBefore);
      if (rest === undefined) this.#others.push(suggestion.tokens);
      else if (rest !== '') this.#rests.push(this.#encode(rest));
    }
  }

  /** The places that share the longest end with the query, as `NgramIndex.lookup`, from 2 tokens on. */
  lookup(query: TokenArray): readonly Match[] {
    const matches = new MatchList(REMEMBERED, query.length, 64);
    this.#text.matchLong(query, matches);
    if (matches.matches.length === 0) this.#text.matchShort(query, matches);
    return matches.matches;
  }

  /** The rests as continuations of the cursor's text; the newest last, so that it is found first. */
  #joinedTo(cursorTail: TokenArray): ChainedTokens {
    const texts = [...this.#others.map((other) => [other]), ...this.#rests.map((rest) => [cursorTail, rest])];
    const size = texts.flat().reduce((sum, part) => sum + part.length, texts.length);
    const joined = new ChainedTokens(size, this.#vocabSize, SPANS);
    for (const parts of texts.reverse()) {
      for (const part of parts) joined.append(part, 0, part.length);
      joined.separate();
    }
    return joined;
  }
}

/**
 * What of `suggested` is still to come for a cursor after `textBefore`; undefined when the cursor stands nowhere
 * in it. Text equality, because what is typed is seldom cut into the tokens that were generated.
 */
function restAfter(suggested: string, textBefore: string): string | undefined {
  let best = -1;
  let bestOverlap = -1;
  for (let cursor = suggested.length; cursor >= 0; cursor--) {
    const overlap = commonEnd(suggested, cursor, textBefore);
    const enough = Math.min(SAME_PLACE_CHARACTERS, cursor, textBefore.length);
    if (overlap >= Math.max(1, enough) && overlap > bestOverlap) {
      best = cursor;
      bestOverlap = overlap;
    }
  }
  return best < 0 ? undefined : suggested.slice(best);
}

/** Equal characters at the end of suggested[0, cursor) and of `text`, as far as they tell places apart. */
function commonEnd(suggested: string, cursor: number, text: string): number {
  const longest = Math.min(cursor, text.length, CONTEXT_CHARACTERS);
  let length = 0;
  while (
    length < longest &&
    suggested.charCodeAt(cursor - 1 - length) === text.charCodeAt(text.length - 1 - length)
  ) {
    length++;
  }
  return length;
}
