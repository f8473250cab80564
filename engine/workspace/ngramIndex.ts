import { ChainedTokens, isNarrow, type Spans } from './chainedTokens.ts';
import type { TokenArray } from './hashChain.ts';
import { type Match, MatchList } from './matchList.ts';

/** Measured on code: from 2 tokens on, more drafts are accepted than from 3; 8 instead of 5 or 6 changes little. */
const SPANS: Spans = { short: 2, long: 8 };

/** Measured on 10 million tokens: smaller ones cost a lookup more hash collisions, larger ones slow the build. */
const SEGMENT_TOKENS = 1 << 20;

/** Segments grow with the workspace, so that a small one takes little memory. */
const FIRST_SEGMENT_TOKENS = 1 << 16;

/** Occurrences that a lookup returns: enough to tell shares of continuations apart. */
const MATCHES = 32;

/** Places that a lookup visits per chain; each costs about one cache miss. 256 drafted no better. */
const STEPS = 160;

/** A segment with more of its room lost to removed documents is emptied. */
const DEAD_SHARE = 0.5;

interface Document {
  readonly id: string;
  readonly segment: Segment;
  readonly start: number;
  readonly end: number;
}

interface Segment {
  readonly text: ChainedTokens;
  /** By start; removed ones too, so that a position finds its document. */
  readonly documents: Document[];
  live: number;
}

export interface NgramIndexOptions {
  readonly vocabSize: number;
  /** Tokens a segment at most; a longer document gets a segment of its own. */
  readonly segmentTokens?: number;
}

/**
 * Where a sequence of tokens occurred before in many documents. Segments of hash-chained tokens, newest first:
 * a document is added to the newest one in one go, removal erases it in place, and segments that hold mostly
 * erased documents are emptied into the newest one, a slice at a time. Nothing is ever copied in bulk.
 */
export class NgramIndex {
  readonly #vocabSize: number;
  readonly #segmentTokens: number;
  readonly #documents = new Map<string, Document>();
  #segments: Segment[] = []; // oldest first; documents are added to the last

  constructor({ vocabSize, segmentTokens = SEGMENT_TOKENS }: NgramIndexOptions) {
    this.#vocabSize = vocabSize;
    this.#segmentTokens = segmentTokens;
  }

  /** Whether 16 bits hold a token. */
  get isNarrow(): boolean {
    return isNarrow(this.#vocabSize);
  }

  get documentCount(): number {
    return this.#documents.size;
  }

  /** Tokens of all documents, removed ones not counted. */
  get tokenCount(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.live, 0);
  }

  get bytes(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.text.bytes, 0);
  }

  documentIds(): Iterable<string> {
    return this.#documents.keys();
  }

  /** The document's tokens: a view that is valid until the next change of the index. */
  tokensOf(id: string): TokenArray | undefined {
    const document = this.#documents.get(id);
    return document?.segment.text.tokens.subarray(document.start, document.end);
  }

  /** Adds the document or replaces its tokens. It becomes the newest. */
  set(id: string, tokens: ArrayLike<number>): void {
    this.delete(id);
    const segment = this.#roomFor(tokens.length);
    const start = segment.text.length;
    segment.text.append(tokens, 0, tokens.length);
    segment.text.separate();
    const document = { id, segment, start, end: start + tokens.length };
    segment.documents.push(document);
    segment.live += tokens.length;
    this.#documents.set(id, document);
  }

  delete(id: string): boolean {
    const document = this.#documents.get(id);
    if (document === undefined) return false;
    const { segment, start, end } = document;
    this.#documents.delete(id);
    segment.live -= end - start;
    if (segment.documents.at(-1) === document) {
      // The usual case while one document is edited: nothing stays behind.
      segment.documents.pop();
      segment.text.truncate(start);
    } else segment.text.erase(start, end);
    if (segment.live === 0 && segment !== this.#segments.at(-1)) this.#drop(segment);
    return true;
  }

  /**
   * Moves at least one and about `maxTokens` tokens out of a segment that holds mostly removed documents.
   * @returns whether there is more to do
   */
  compact(maxTokens: number): boolean {
    const wasteful = this.#segments.find(
      (segment) => segment !== this.#segments.at(-1) && segment.live < segment.text.length * (1 - DEAD_SHARE),
    );
    if (wasteful === undefined) return false;
    let moved = 0;
    for (const document of wasteful.documents) {
      if (this.#documents.get(document.id) !== document) continue;
      if (moved >= maxTokens) return true;
      this.set(document.id, wasteful.text.tokens.slice(document.start, document.end));
      moved += document.end - document.start;
    }
    this.#drop(wasteful);
    return true;
  }

  /**
   * The places that share the longest end with the query: at least 8 tokens, or at least 2 when there is none
   * of 8. Longest first, then newest first.
   * @param query the tokens before the place to be continued; at most the last 32 are of use
   */
  lookup(query: TokenArray): readonly Match[] {
    const long = this.#collect(query, 'matchLong');
    return long.length > 0 ? long : this.#collect(query, 'matchShort');
  }

  /** The document that a match of this index lies in. */
  documentOf(match: Match): string | undefined {
    const segment = this.#segments.find(({ text }) => text === match.text);
    return segment && documentAt(segment.documents, match.next)?.id;
  }

  #collect(query: TokenArray, chain: 'matchLong' | 'matchShort'): readonly Match[] {
    const matches = new MatchList(MATCHES, query.length, STEPS);
    for (let i = this.#segments.length - 1; i >= 0; i--) this.#segments[i].text[chain](query, matches);
    return matches.matches;
  }

  #roomFor(tokens: number): Segment {
    const newest = this.#segments.at(-1);
    if (newest !== undefined && newest.text.room > tokens) return newest;
    const usual = Math.min(this.#segmentTokens, Math.max(FIRST_SEGMENT_TOKENS, this.tokenCount));
    const capacity = Math.max(usual, tokens + 1);
    const segment: Segment = {
      text: new ChainedTokens(capacity, this.#vocabSize, SPANS),
      documents: [],
      live: 0,
    };
    if (newest?.live === 0) this.#drop(newest);
    this.#segments.push(segment);
    return segment;
  }

  #drop(segment: Segment): void {
    this.#segments = this.#segments.filter((other) => other !== segment);
  }
}

/** The last document that starts at or before the position (binary search). */
function documentAt(documents: readonly Document[], position: number): Document | undefined {
  let low = 0;
  let high = documents.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (documents[middle].start <= position) low = middle + 1;
    else high = middle;
  }
  return documents[low - 1];
}
