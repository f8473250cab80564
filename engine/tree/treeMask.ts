import { ROOT } from './tokenTree.ts';

/** What attention adds to a score to hide a token: finite, so that a row of only these still has a softmax. */
export const HIDDEN = -1e9;

/**
 * Depth of every node below the committed tokens: 0 for children of the root. Its position is the committed length
 * plus this.
 */
export function nodeDepths(parents: Int32Array): Int32Array {
  const depths = new Int32Array(parents.length);
  for (let node = 0; node < parents.length; node++) {
    depths[node] = parents[node] === ROOT ? 0 : depths[parents[node]] + 1;
  }
  return depths;
}

/**
 * Additive attention mask of a tree: 0 from a node to itself and its ancestors, HIDDEN elsewhere. The whole mask
 * is repeated `group` times, as the query heads that share a KV head lie under one another.
 *
 * @returns [group * node, node]
 */
export function treeMask(parents: Int32Array, group: number): Float32Array {
  const size = parents.length;
  const mask = new Float32Array(group * size * size).fill(HIDDEN);
  for (let node = 0; node < size; node++) {
    const row = node * size;
    const parent = parents[node];
    // A node sees what its parent sees, and itself: the parent's row is there already.
    if (parent !== ROOT) mask.copyWithin(row, parent * size, (parent + 1) * size);
    mask[row + node] = 0;
  }
  for (let head = 1; head < group; head++) mask.copyWithin(head * size * size, 0, size * size);
  return mask;
}

/** Parents of a chain of `length` nodes. */
export function chainParents(length: number): Int32Array {
  return Int32Array.from({ length }, (_, node) => (node === 0 ? ROOT : node - 1));
}
