import { ROOT } from '../tree/tokenTree.ts';
import type { Verifier } from '../verify/verifier.ts';

/**
 * Accepts what the real text has, whatever the target says: decoding as it would go with a target that writes exactly
 * this. Shows what drafting is worth on real code, apart from how well a small model writes. One generation each.
 */
export function realTextVerifier(text: Int32Array): Verifier {
  let written = 0;
  return {
    want: 'argmax',
    verify(tree, { argmax }) {
      const accepted: number[] = [];
      let parent = ROOT;
      for (let node = 0; node < tree.size; node++) {
        if (tree.parents[node] !== parent || tree.tokens[node] !== text[written]) continue;
        accepted.push(node);
        parent = node;
        written++;
      }
      // Past the end of the text nothing is asked for any more.
      const bonus = text[written++] ?? argmax[0];
      return { accepted, bonus };
    },
  };
}
