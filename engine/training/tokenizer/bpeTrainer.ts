import { BYTE_SPELLING } from './byteAlphabet.ts';
import { MergeQueue } from './mergeQueue.ts';

export interface BpeModel {
  /** Tokens in GPT-2's byte spelling; the index is the id. */
  readonly tokens: readonly string[];
  readonly merges: readonly (readonly [string, string])[];
}

/** Ids stay below 2^16: token files are uint16. */
const PAIR_BASE = 65_536;

interface Word {
  symbols: number[];
  readonly count: number;
}

function pairOf(left: number, right: number): number {
  return left * PAIR_BASE + right;
}

function replacePair(symbols: readonly number[], left: number, right: number, merged: number): number[] {
  const replaced: number[] = [];
  for (let i = 0; i < symbols.length; i++) {
    if (symbols[i] === left && symbols[i + 1] === right) {
      replaced.push(merged);
      i++;
    } else replaced.push(symbols[i]!);
  }
  return replaced;
}

/** How often each pair occurs, and in which words. */
class PairCounts {
  readonly counts = new Map<number, number>();
  readonly #words = new Map<number, Set<number>>();

  add(symbols: readonly number[], times: number, word: number): number[] {
    const pairs: number[] = [];
    for (let i = 0; i + 1 < symbols.length; i++) {
      const pair = pairOf(symbols[i]!, symbols[i + 1]!);
      pairs.push(pair);
      this.counts.set(pair, (this.counts.get(pair) ?? 0) + times);
      let words = this.#words.get(pair);
      if (!words) {
        words = new Set();
        this.#words.set(pair, words);
      }
      words.add(word);
    }
    return pairs;
  }

  takeWords(pair: number): ReadonlySet<number> {
    const words = this.#words.get(pair)!;
    this.#words.delete(pair);
    return words;
  }
}

/**
 * Byte-pair encoding (Sennrich et al. 2016) over weighted pieces: merges the most frequent pair until there are
 * `size` tokens (256 bytes included) or nothing occurs twice.
 */
export function trainBpe(pieces: ReadonlyMap<string, number>, size: number): BpeModel {
  const tokens = [...BYTE_SPELLING];
  const merges: [string, string][] = [];
  const words: Word[] = [...pieces].map(([piece, count]) => ({ symbols: [...Buffer.from(piece)], count }));
  const pairs = new PairCounts();
  words.forEach((word, index) => void pairs.add(word.symbols, word.count, index));
  const queue = new MergeQueue();
  for (const [pair, count] of pairs.counts) queue.push(count, pair);
  while (tokens.length < size) {
    const best = queue.pop();
    if (!best) break;
    if (pairs.counts.get(best.pair) !== best.count) continue;
    if (best.count < 2) break;
    const left = Math.floor(best.pair / PAIR_BASE);
    const right = best.pair % PAIR_BASE;
    const merged = tokens.length;
    tokens.push(tokens[left]! + tokens[right]!);
    merges.push([tokens[left]!, tokens[right]!]);
    const changed = new Set<number>();
    for (const index of pairs.takeWords(best.pair)) {
      const word = words[index]!;
      const symbols = replacePair(word.symbols, left, right, merged);
      if (symbols.length === word.symbols.length) continue;
      for (const pair of pairs.add(word.symbols, -word.count, index)) changed.add(pair);
      for (const pair of pairs.add(symbols, word.count, index)) changed.add(pair);
      word.symbols = symbols;
    }
    for (const pair of changed) {
      const count = pairs.counts.get(pair)!;
      if (count > 0 && pair !== best.pair) queue.push(count, pair);
    }
  }
  return { tokens, merges };
}
