import { ROOT, type TokenTree } from '../../../engine/tree/tokenTree.ts';
import type { TargetRows } from '../../../engine/verify/verifier.ts';
import { Random } from '../../random.ts';

/** A model of few tokens whose logits after each text are drawn once and then known: all about it can be computed. */
export class TableModel {
  readonly vocabSize: number;
  readonly #seed: number;
  readonly #rows = new Map<string, Float32Array>();

  constructor(vocabSize: number, seed: number) {
    this.vocabSize = vocabSize;
    this.#seed = seed;
  }

  logits(text: readonly number[]): Float32Array {
    const key = text.join();
    const known = this.#rows.get(key);
    if (known) return known;
    const random = new Random(this.#seed + text.reduce((hash, token) => hash * 31 + token + 1, 7));
    const row = Float32Array.from({ length: this.vocabSize }, () => 3 * random.next());
    this.#rows.set(key, row);
    return row;
  }

  /** What a target hands to a verifier for a tree after a text. */
  rowsOf(text: readonly number[], tree: TokenTree): TargetRows {
    const logits = new Float32Array((tree.size + 1) * this.vocabSize);
    for (let node = ROOT; node < tree.size; node++) {
      logits.set(this.logits([...text, ...pathTo(tree, node)]), (node + 1) * this.vocabSize);
    }
    return { argmax: new Int32Array(0), logits };
  }
}

/** The tokens from the root to a node. */
export function pathTo(tree: TokenTree, node: number): number[] {
  return node === ROOT ? [] : [...pathTo(tree, tree.parents[node]), tree.tokens[node]];
}

/** Every text of `length` tokens, in the order of `textIndex`. */
export function allTexts(vocabSize: number, length: number): number[][] {
  if (length === 0) return [[]];
  return allTexts(vocabSize, length - 1).flatMap((text) =>
    Array.from({ length: vocabSize }, (_, token) => [...text, token]),
  );
}

export function textIndex(vocabSize: number, text: readonly number[]): number {
  return text.reduce((index, token) => index * vocabSize + token, 0);
}
