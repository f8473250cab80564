import { ROOT } from '../tree/tokenTree.ts';
import type { Verifier } from './verifier.ts';

/**
 * Greedy tree verification: from the root follow the child that equals the target's argmax until there is
 * none; that argmax is the bonus. Exactly plain greedy decoding's tokens, whatever was drafted.
 */
export const greedyVerifier: Verifier = {
  want: 'argmax',
  verify(tree, { argmax }) {
    const accepted: number[] = [];
    let parent = ROOT;
    let next = argmax[0];
    // Children come after their parents, so one pass over the nodes walks the whole path.
    for (let node = 0; node < tree.size; node++) {
      if (tree.parents[node] !== parent || tree.tokens[node] !== next) continue;
      accepted.push(node);
      parent = node;
      next = argmax[node + 1];
    }
    return { accepted, bonus: next };
  },
};
