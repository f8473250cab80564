import { draw } from '../sampling/distribution.ts';
import { targetNumbers } from '../sampling/randomNumbers.ts';
import type { SamplingSettings } from '../sampling/samplingSettings.ts';
import { targetDistribution } from '../sampling/targetDistribution.ts';
import type { Random } from '../seededRandom.ts';
import { ROOT, type TokenTree } from '../tree/tokenTree.ts';
import { acceptDrawn } from './drawnSiblings.ts';
import type { Verifier } from './verifier.ts';

/**
 * Tree rejection sampling: text distributed exactly as plain sampling's, whatever was drafted. From the root, at each
 * node a token with the target's distribution; while it is the token of a child, that child is accepted.
 *
 * Where the children were chosen, accepting each with what it has of the remaining probability and drawing the rest
 * otherwise comes to drawing from p and looking whether a child holds the token. Drawn like this, token i of the text
 * takes random number i in any case: one seed writes one text, drafts or none. Where children were drawn (see
 * TokenTree.draftProbs), only the distribution is that of plain sampling.
 *
 * One verifier writes one text: it goes on with its random numbers from step to step.
 *
 * @param settings a temperature above 0
 */
export function rejectionVerifier(settings: SamplingSettings): Verifier {
  const random = targetNumbers(settings.seed);
  return {
    want: 'logits',
    verify(tree, rows) {
      const logits = rows.logits!; // [node + 1, vocab]
      const vocabSize = logits.length / (tree.size + 1);
      const accepted: number[] = [];
      for (let parent = ROOT; ; ) {
        const row = logits.subarray((parent + 1) * vocabSize, (parent + 2) * vocabSize);
        const children = childrenOf(tree, parent);
        const token = nextToken(tree, parent, children, targetDistribution(row, settings), random);
        const child = children.find((node) => tree.tokens[node] === token);
        if (child === undefined) return { accepted, bonus: token };
        accepted.push(child);
        parent = child;
      }
    },
  };
}

function nextToken(
  tree: TokenTree,
  parent: number,
  children: readonly number[],
  p: Float64Array,
  random: Random,
): number {
  const q = tree.draftProbs?.get(parent);
  if (q === undefined) return draw(p, random);
  const drawn = children.map((node) => tree.tokens[node]);
  return acceptDrawn(p, q, drawn, random);
}

function childrenOf(tree: TokenTree, parent: number): number[] {
  return [...tree.parents.keys()].filter((node) => tree.parents[node] === parent);
}
