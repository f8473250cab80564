import type { CostTable } from '../model/costTable.ts';
import { emptyTree, type TokenTree, takeMostProbable } from '../tree/tokenTree.ts';
import { CostModel } from './costModel.ts';

/** What the decoder asks each step: how much to draft, and how much of it to verify. */
export interface DraftController {
  /** Nodes to ask the drafter for; 0 leaves it out of this step. */
  budget(): number;
  /**
   * The part of the tree worth verifying.
   *
   * @param context committed tokens
   * @param pending tokens that the pass evaluates in any case
   */
  choose(tree: TokenTree, context: number, pending: number): TokenTree;
  observe(step: StepOutcome): void;
}

export interface StepOutcome {
  /** Committed tokens before the step. */
  readonly context: number;
  /** Tokens that the pass evaluated. */
  readonly nodes: number;
  readonly drafted: number;
  readonly accepted: number;
  /** Absent when the drafter was not asked. */
  readonly draftMs: number | undefined;
  readonly verifyMs: number;
}

/** Drafts a fixed number of tokens, paying or not: what a user who sets the number asks for. */
export function fixedController(nodes: number): DraftController {
  return {
    budget: () => nodes,
    choose: (tree) => takeMostProbable(tree, nodes),
    observe: () => {},
  };
}

/** Larger trees have not paid on any machine measured. */
const LARGEST_TREE = 32;
/** Share of plain decoding's time that drafts which come to nothing may cost. */
const IDLE_DRAFT_SHARE = 0.005;
/** After useless steps the drafter is asked again at the latest after this many. */
const LONGEST_PAUSE = 8;
const SMOOTHING = 0.2;

/**
 * Verifies as many of the most probable nodes as maximise expected tokens over time: (1 + sum of c(v)) / T(n + 1),
 * with c(v) the estimated probability that the target accepts the path to v and T measured on this machine. Drafting
 * itself is paid for by then and left out; a drafter whose proposals come to nothing is asked less often instead.
 */
export class CostController implements DraftController {
  readonly #costs: CostModel;
  #pause = 0;
  #draftMs = 0;

  constructor(costs: CostTable) {
    this.#costs = new CostModel(costs);
  }

  budget(): number {
    if (this.#pause > 0) {
      this.#pause--;
      return 0;
    }
    return LARGEST_TREE;
  }

  choose(tree: TokenTree, context: number, pending: number): TokenTree {
    if (tree.size === 0) return emptyTree;
    const probabilities = tree.logProbs.map((logProb) => Math.exp(logProb)).sort((a, b) => b - a);
    let best = 0;
    let bestRate = 1 / this.#costs.passMs(pending, context);
    let expected = 1;
    for (const [i, probability] of probabilities.entries()) {
      expected += probability;
      const rate = expected / this.#costs.passMs(pending + i + 1, context);
      if (rate > bestRate) [best, bestRate] = [i + 1, rate];
    }
    return takeMostProbable(tree, best);
  }

  observe({ context, nodes, drafted, accepted, draftMs, verifyMs }: StepOutcome): void {
    this.#costs.observe(nodes, context, verifyMs);
    if (draftMs === undefined) return;
    this.#draftMs += SMOOTHING * (draftMs - this.#draftMs);
    if (drafted > 0 && accepted > 0) return;
    const affordable = Math.ceil(this.#draftMs / (IDLE_DRAFT_SHARE * verifyMs)) - 1;
    this.#pause = Math.min(LONGEST_PAUSE, affordable);
  }
}
