import type { TokenTree } from '../tree/tokenTree.ts';

/** The accepted path through a tree and the target's own token after it. */
export interface Verification {
  readonly accepted: readonly number[]; // node indices, root to leaf
  readonly bonus: number;
}

/** Predictions of the target for a verified tree: row 0 after the last committed token, row i + 1 after node i. */
export interface TargetRows {
  readonly argmax: Int32Array; // [node + 1]
  readonly logits?: Float32Array; // [node + 1, vocab]
}

export interface Verifier {
  readonly want: 'argmax' | 'logits';
  verify(tree: TokenTree, rows: TargetRows): Verification;
}
