import { readFileSync } from 'node:fs';
import { BYTE_SPELLING } from './byteAlphabet.ts';
import { preTokenize } from './preTokenizer.ts';

interface TokenizerFile {
  readonly added_tokens: readonly { readonly id: number; readonly content: string }[];
  readonly model: {
    readonly vocab: Readonly<Record<string, number>>;
    /** Pairs, or both halves in one string as older files have them. */
    readonly merges: readonly (readonly [string, string] | string)[];
  };
}

const MAX_CACHED_PIECES = 1_000_000;

/** Encodes whole corpora: a byte-level BPE with a cache of pieces. Special tokens in a text are plain text. */
export class BpeEncoder {
  readonly size: number;
  readonly #ranks: ReadonlyMap<string, number>;
  readonly #ids: ReadonlyMap<string, number>;
  readonly #special: ReadonlyMap<string, number>;
  readonly #cache = new Map<string, readonly number[]>();

  constructor(file: TokenizerFile) {
    this.#ranks = new Map(
      file.model.merges.map((merge, rank) => [typeof merge === 'string' ? merge : merge.join(' '), rank]),
    );
    this.#ids = new Map(Object.entries(file.model.vocab));
    this.#special = new Map(file.added_tokens.map(({ content, id }) => [content, id]));
    this.size = this.#ids.size + this.#special.size;
  }

  static fromFile(path: string): BpeEncoder {
    return new BpeEncoder(JSON.parse(readFileSync(path, 'utf8')) as TokenizerFile);
  }

  special(token: string): number {
    const id = this.#special.get(token);
    if (id === undefined) throw new Error(`tokenizer.json has no special token ${token}`);
    return id;
  }

  encode(text: string): number[] {
    const ids: number[] = [];
    for (const piece of preTokenize(text)) for (const id of this.#encodePiece(piece)) ids.push(id);
    return ids;
  }

  #encodePiece(piece: string): readonly number[] {
    const cached = this.#cache.get(piece);
    if (cached) return cached;
    let symbols = Array.from(Buffer.from(piece), (byte) => BYTE_SPELLING[byte]!);
    for (let pair = this.#firstMerge(symbols); pair; pair = this.#firstMerge(symbols))
      symbols = applyMerge(symbols, pair);
    const ids = symbols.map((symbol) => this.#ids.get(symbol)!);
    if (this.#cache.size < MAX_CACHED_PIECES) this.#cache.set(piece, ids);
    return ids;
  }

  #firstMerge(symbols: readonly string[]): readonly [string, string] | undefined {
    let best: readonly [string, string] | undefined;
    let bestRank = Number.POSITIVE_INFINITY;
    for (let i = 0; i + 1 < symbols.length; i++) {
      const rank = this.#ranks.get(`${symbols[i]} ${symbols[i + 1]}`);
      if (rank !== undefined && rank < bestRank) {
        bestRank = rank;
        best = [symbols[i]!, symbols[i + 1]!];
      }
    }
    return best;
  }
}

function applyMerge(symbols: readonly string[], [left, right]: readonly [string, string]): string[] {
  const merged: string[] = [];
  for (let i = 0; i < symbols.length; i++) {
    if (symbols[i] === left && symbols[i + 1] === right) {
      merged.push(left + right);
      i++;
    } else merged.push(symbols[i]!);
  }
  return merged;
}
