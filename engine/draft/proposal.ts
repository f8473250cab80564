import { emptyTree, type TokenTree } from '../tree/tokenTree.ts';

/** Of a drafter that first has to read what the session has: this step does not show what its drafts are worth. */
export interface CatchingUp {
  /** What is drafted without it. */
  readonly meanwhile: TokenTree;
}

/** What is drafted for one pass of the target. An empty tree: there is nothing to propose. */
export type Proposal = TokenTree | CatchingUp;

/** Of a drafter that has nothing else to draft with. */
export const catchingUp: CatchingUp = { meanwhile: emptyTree };

export function isCatchingUp(proposal: Proposal): proposal is CatchingUp {
  return 'meanwhile' in proposal;
}

/** What of it can be verified. */
export function treeOf(proposal: Proposal): TokenTree {
  return isCatchingUp(proposal) ? proposal.meanwhile : proposal;
}
