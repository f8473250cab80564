import { idleSessions } from '../config.ts';
import type { DraftCandidates, TreeLimits } from '../model/draftHeadRows.ts';
import { SequencePool } from '../sequence/sequencePool.ts';
import { subtree, takeMostProbable } from '../tree/subtrees.ts';
import { emptyTree, type TokenTree } from '../tree/tokenTree.ts';
import type { Drafter, ProposalLimits, SessionView, Verdict } from './drafter.ts';
import type { DepthPlace, EagleDepth } from './eagleDepth.ts';
import { type DraftingHead, EagleSequence } from './eagleSequence.ts';
import { eagleStaticTree } from './eagleStaticTree.ts';
import { treeOfCandidates } from './eagleTree.ts';
import { catchingUp, type Proposal } from './proposal.ts';

/** Names and meaning follow SGLang's server options. */
export interface EagleOptions {
  /** Levels of the tree: steps of the head. Absent: as many as pay, or as the budget has nodes for. */
  readonly numSteps?: number | undefined;
  /** Nodes that each level goes on from, and children of each of them; 1 makes a chain. */
  readonly topk?: number | undefined;
  /** Nodes of the tree at most, without the last committed token that SGLang counts too. */
  readonly numDraftTokens?: number | undefined;
  /** Decides the depth where no number of steps or tokens does. */
  readonly depth?: EagleDepth | undefined;
}

/** Levels at most where the budget decides. */
const DEEPEST = 8;
/** A run for more new pairs than this says little about what levels cost. */
const FEW_PAIRS = 16;

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
  readonly #depth: EagleDepth | undefined;
  #place: DepthPlace = { context: 0, pending: 1 };

  /** @param head by its opener disposed */
  constructor(head: DraftingHead, options: EagleOptions = {}) {
    this.name = head.info.kind;
    this.#head = head;
    this.#options = options;
    this.#sequences = new SequencePool(() => new EagleSequence(head), idleSessions);
    const { depth, numSteps, numDraftTokens } = options;
    this.#depth = numSteps === undefined && numDraftTokens === undefined ? depth : undefined;
  }

  get bytes(): number {
    return this.#head.info.weightBytes + this.#sequences.bytes;
  }

  /** Catches up while there is much of a long prompt left, or more than the last token is pending. */
  async propose(
    view: SessionView,
    budget: number,
    { levels = Number.POSITIVE_INFINITY }: ProposalLimits = {},
  ): Promise<Proposal> {
    const { numDraftTokens = budget } = this.#options;
    const nodes = Math.min(budget, numDraftTokens);
    if (nodes === 0) return emptyTree;
    this.#place = { context: view.tokens.length, pending: view.tokens.length - view.hidden.length };
    const sequence = this.#sequences.acquire(view.tokens);
    try {
      const started = performance.now();
      const draft = await sequence.draft(view, this.#limits(nodes, levels));
      if (!draft) return catchingUp;
      const { candidates, pairs } = draft;
      const drafted = candidates.expanded.length / candidates.width;
      if (pairs <= FEW_PAIRS) this.#depth?.drafted(drafted, performance.now() - started);
      return takeMostProbable(this.#tree(candidates), nodes);
    } finally {
      this.#sequences.release(sequence);
    }
  }

  /** What was accepted shows in the tokens of the next proposal; what a draft was worth, here. */
  observe({ tree, accepted }: Verdict): void {
    if (tree.size === 0) return;
    this.#depth?.observe({ ...this.#place, tree, accepted });
  }

  dispose(): void {
    this.#sequences.dispose();
  }

  #limits(nodes: number, deepest: number): TreeLimits {
    const { expansion, vocabSize } = this.#head.info;
    const { numSteps, topk = 1 } = this.#options;
    if (expansion === 'given') {
      const { levels, width, expand } = eagleStaticTree;
      return {
        levels: Math.min(levels, numSteps ?? levels, nodes, deepest),
        width,
        leastLogProb: Number.NEGATIVE_INFINITY,
        expand,
      };
    }
    const levels = numSteps ?? Math.min(DEEPEST, Math.ceil(nodes / topk));
    return {
      levels: Math.min(levels, nodes, deepest),
      width: Math.min(topk, vocabSize),
      leastLogProb: this.#depth?.leastLogProb(this.#place) ?? Number.NEGATIVE_INFINITY,
    };
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
