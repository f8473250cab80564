import { idleSessions } from '../config.ts';
import type { DraftCandidates, TreeLimits } from '../model/draftHeadRows.ts';
import { emptyTree, subtree, type TokenTree, takeMostProbable } from '../tree/tokenTree.ts';
import type { Drafter, SessionView } from './drafter.ts';
import { type DraftingHead, EagleSequence } from './eagleSequence.ts';
import { eagleStaticTree } from './eagleStaticTree.ts';
import { treeOfCandidates } from './eagleTree.ts';
import { SequencePool } from './sequencePool.ts';

/** Names and meaning follow SGLang's server options. */
export interface EagleOptions {
  /** Levels of the tree: steps of the head. */
  readonly numSteps?: number | undefined;
  /** Nodes that each level goes on from, and children of each of them; 1 makes a chain. */
  readonly topk?: number | undefined;
  /** Nodes of the tree at most, without the last committed token that SGLang counts too. */
  readonly numDraftTokens?: number | undefined;
  /** No level follows one whose best path is less probable, by the head's own estimate. */
  readonly leastProbability?: number | undefined;
}

const STEPS = 5;

/**
 * A head of one decoder layer drafts on the target's own hidden states: EAGLE and EAGLE-2 (arXiv 2401.15077, 2406.16858),
 * EAGLE-3 (2503.01840) and multi-token prediction run as EAGLE (SGLang's NEXTN). All levels of the tree in one run, and of
 * all its nodes those whose paths are most probable. Estimates are the head's own probabilities.
 *
 * A head that was opened for given expansion drafts the static tree of EAGLE-1: `topk` is of no use to it.
 */
export class EagleDrafter implements Drafter {
  readonly name: string;
  readonly #head: DraftingHead;
  readonly #options: EagleOptions;
  readonly #sequences: SequencePool<EagleSequence>;

  /** @param head by its opener disposed */
  constructor(head: DraftingHead, options: EagleOptions = {}) {
    this.name = head.info.kind;
    this.#head = head;
    this.#options = options;
    this.#sequences = new SequencePool(() => new EagleSequence(head), idleSessions);
  }

  get bytes(): number {
    return this.#head.info.weightBytes + this.#sequences.bytes;
  }

  /** Empty while the head still catches up with a long prompt, or while more than the last token is pending. */
  async propose(view: SessionView, budget: number): Promise<TokenTree> {
    const { numDraftTokens = budget } = this.#options;
    const nodes = Math.min(budget, numDraftTokens);
    if (nodes === 0) return emptyTree;
    const sequence = this.#sequences.acquire(view.tokens);
    try {
      const candidates = await sequence.draft(view, this.#limits(nodes));
      return candidates ? takeMostProbable(this.#tree(candidates), nodes) : emptyTree;
    } finally {
      this.#sequences.release(sequence);
    }
  }

  /** What was accepted shows in the tokens of the next proposal. */
  observe(): void {}

  dispose(): void {
    this.#sequences.dispose();
  }

  #limits(nodes: number): TreeLimits {
    const { expansion, vocabSize } = this.#head.info;
    const { numSteps = STEPS, topk = 1, leastProbability = 0 } = this.#options;
    const leastLogProb = Math.log(leastProbability);
    if (expansion === 'given') {
      const { levels, width, expand } = eagleStaticTree;
      return { levels: Math.min(levels, numSteps, nodes), width, leastLogProb, expand };
    }
    return { levels: Math.min(numSteps, nodes), width: Math.min(topk, vocabSize), leastLogProb };
  }

  #tree(candidates: DraftCandidates): TokenTree {
    const { kind, expansion } = this.#head.info;
    const tree = treeOfCandidates(candidates, kind);
    if (expansion === 'mostProbable') return tree;
    return subtree(
      tree,
      eagleStaticTree.nodes.filter((node) => node < tree.size),
    );
  }
}
