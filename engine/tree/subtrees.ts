import { ROOT, type TokenTree } from './tokenTree.ts';
import { nodeDepths } from './treeShape.ts';

/** The `count` most probable nodes. A path is never more probable than its beginning, so what is left is a tree. */
export function takeMostProbable(tree: TokenTree, count: number): TokenTree {
  if (count >= tree.size) return tree;
  const kept = Array.from({ length: tree.size }, (_, node) => node)
    .sort((a, b) => tree.logProbs[b] - tree.logProbs[a] || a - b)
    .slice(0, count)
    .sort((a, b) => a - b);
  return subtree(tree, kept);
}

/** The nodes on the first `levels` levels. */
export function takeShallowest(tree: TokenTree, levels: number): TokenTree {
  const depths = nodeDepths(tree.parents);
  const kept = [...depths.keys()].filter((node) => depths[node] < levels);
  return kept.length === tree.size ? tree : subtree(tree, kept);
}

/** @param kept nodes, ascending, and with every node its parent */
export function subtree(tree: TokenTree, kept: readonly number[]): TokenTree {
  const renumbered = new Map(kept.map((old, index) => [old, index]));
  const parentOf = (old: number) => (tree.parents[old] === ROOT ? ROOT : renumbered.get(tree.parents[old])!);
  return {
    size: kept.length,
    tokens: Int32Array.from(kept, (old) => tree.tokens[old]),
    parents: Int32Array.from(kept, parentOf),
    logProbs: Float32Array.from(kept, (old) => tree.logProbs[old]),
    sources: kept.map((old) => tree.sources[old]),
    ...(tree.draftProbs && { draftProbs: draftProbsOf(tree.draftProbs, renumbered) }),
  };
}

function draftProbsOf(
  draftProbs: ReadonlyMap<number, Float64Array>,
  renumbered: ReadonlyMap<number, number>,
): ReadonlyMap<number, Float64Array> {
  const kept = [...draftProbs].filter(([parent]) => parent === ROOT || renumbered.has(parent));
  return new Map(kept.map(([parent, probs]) => [parent === ROOT ? ROOT : renumbered.get(parent)!, probs]));
}
