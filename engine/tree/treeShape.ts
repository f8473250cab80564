import { ROOT } from './tokenTree.ts';

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

/** Parents of a chain of `length` nodes. */
export function chainParents(length: number): Int32Array {
  return Int32Array.from({ length }, (_, node) => (node === 0 ? ROOT : node - 1));
}
