import type { DraftCandidates } from '../model/draftHeadRows.ts';
import { type DraftSource, ROOT, type TokenTree } from '../tree/tokenTree.ts';

/** All that a head drafted as one tree, in its own order: level by level, the children of a node side by side. */
export function treeOfCandidates(candidates: DraftCandidates, source: DraftSource): TokenTree {
  const { tokens, logProbs } = candidates;
  return {
    size: tokens.length,
    tokens,
    parents: parentsOf(candidates),
    logProbs,
    sources: new Array<DraftSource>(tokens.length).fill(source),
  };
}

function parentsOf({ width, tokens, expanded }: DraftCandidates): Int32Array {
  const parents = new Int32Array(tokens.length).fill(ROOT, 0, width);
  let levelBefore = 0;
  for (let start = width, level = 0; start < tokens.length; level++) {
    for (let parent = 0; parent < width; parent++) {
      const node = levelBefore + expanded[level * width + parent];
      parents.fill(node, start + parent * width, start + (parent + 1) * width);
    }
    levelBefore = start;
    start += width * width;
  }
  return parents;
}
