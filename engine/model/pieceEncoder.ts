import { Tokenizer as LibraryTokenizer } from '@huggingface/tokenizers';
import { pieceRules } from './preTokenizer.ts';
import { toByteChars } from './tokenBytes.ts';
import type { AddedToken, TokenizerFile } from './tokenizerFiles.ts';

/**
 * Longest piece given to BPE at once, UTF-16 units. Source text has no piece near it; a run of a million equal
 * letters has, and merging it whole takes seconds. Longer pieces are cut every so many units, counted from the
 * piece's start, so that the same text always gives the same tokens.
 */
const longestPiece = 4096;

/** Pieces longer than this rarely come again. */
const longestCachedPiece = 64;
const cachedPieces = 50_000;

/**
 * Text -> ids: normalise, split into pieces, BPE for each piece. Pieces repeat, so their ids are remembered;
 * that makes encoding several times faster than BPE each time and leaves the ids the same.
 */
export class PieceEncoder {
  readonly byteLevel: boolean;
  readonly #library: LibraryTokenizer;
  readonly #added: { readonly pattern: RegExp; readonly ids: ReadonlyMap<string, number> } | undefined;
  readonly #splitsBeforeSpace: boolean;
  readonly #cache = new Map<string, readonly number[]>();

  constructor(file: TokenizerFile, textTokens: readonly AddedToken[]) {
    const { split, byteLevel } = pieceRules(file.preTokenizer);
    this.byteLevel = byteLevel;
    // The library gets no added tokens: it would find control tokens inside text.
    this.#library = new LibraryTokenizer(
      {
        model: file.model,
        added_tokens: [],
        normalizer: file.normalizer,
        pre_tokenizer: split,
        post_processor: null,
        decoder: null,
      },
      {},
    );
    this.#added = addedTextTokens(textTokens);
    // Where no entry of the vocabulary goes on past a word's end, no merge does: words are pieces.
    this.#splitsBeforeSpace =
      !this.byteLevel && !Object.keys(file.model.vocab).some((token) => /[^▁]▁/u.test(token));
  }

  encode(text: string): number[] {
    const ids: number[] = [];
    const wellFormed = text.replace(/\p{Surrogate}/gu, '\uFFFD');
    if (this.#added === undefined) {
      this.#encodeText(wellFormed, ids);
      return ids;
    }
    for (const section of wellFormed.split(this.#added.pattern)) {
      const id = this.#added.ids.get(section);
      if (id === undefined) this.#encodeText(section, ids);
      else ids.push(id);
    }
    return ids;
  }

  #encodeText(text: string, ids: number[]): void {
    if (text === '') return;
    const normalized = this.#library.normalizer === null ? text : this.#library.normalizer.normalize(text);
    for (const piece of this.#split(normalized)) {
      for (const id of this.#idsOf(piece)) ids.push(id);
    }
  }

  #split(text: string): readonly string[] {
    const splitter = this.#library.pre_tokenizer;
    const pieces: string[] = splitter === null ? [text] : splitter.pre_tokenize(text, { section_index: 0 });
    return this.#splitsBeforeSpace ? pieces.flatMap((piece) => piece.split(/(?<=[^▁])(?=▁)/u)) : pieces;
  }

  #idsOf(piece: string): readonly number[] {
    const known = this.#cache.get(piece);
    if (known !== undefined) return known;
    const ids = piece.length <= longestPiece ? this.#merge(piece) : this.#mergeInParts(piece);
    if (piece.length <= longestCachedPiece) {
      if (this.#cache.size >= cachedPieces) this.#cache.clear();
      this.#cache.set(piece, ids);
    }
    return ids;
  }

  #merge(piece: string): number[] {
    const tokens = this.#library.model!.encode([this.byteLevel ? toByteChars(piece) : piece]);
    const ids: number[] = [];
    for (const token of tokens) {
      const id = this.#library.token_to_id(token);
      if (id !== undefined) ids.push(id);
    }
    return ids;
  }

  #mergeInParts(piece: string): number[] {
    const ids: number[] = [];
    let part = '';
    let partIds: readonly number[] = [];
    for (let start = 0; start < piece.length; ) {
      const end = partEnd(piece, start);
      const next = piece.slice(start, end);
      // Runs of one character are what such pieces usually are.
      if (next !== part) partIds = this.#merge(next);
      part = next;
      for (const id of partIds) ids.push(id);
      start = end;
    }
    return ids;
  }
}

function partEnd(piece: string, start: number): number {
  const end = Math.min(piece.length, start + longestPiece);
  const splitsPair = end < piece.length && /[\uDC00-\uDFFF]/.test(piece[end]);
  return splitsPair ? end - 1 : end;
}

function addedTextTokens(tokens: readonly AddedToken[]) {
  if (tokens.length === 0) return undefined;
  const longestFirst = tokens.map(({ content }) => content).sort((a, b) => b.length - a.length);
  const escaped = longestFirst.map((content) => content.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  return {
    pattern: new RegExp(`(${escaped.join('|')})`, 'u'),
    ids: new Map(tokens.map(({ content, id }) => [content, id])),
  };
}
