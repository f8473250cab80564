import { type CostTable, passMs } from '../model/costTable.ts';

/** A draft under way, before another pass over its frontier. */
export interface Draft {
  /** Levels drafted so far. */
  readonly depth: number;
  /** Log of the estimated probability that the target accepts the path to each token of the frontier. */
  readonly frontier: readonly number[];
  /** Tokens committed before it. */
  readonly context: number;
}

/** Decides, level by level, whether the draft model runs once more. A new one for every draft. */
export interface DepthRule {
  another(draft: Draft): boolean;
}

/** As many levels as are asked for, paying or not. */
export function fixedDepth(levels: number): DepthRule {
  return { another: ({ depth }) => depth < levels };
}

/** What passes of both models cost on this machine. */
export interface DraftModelCosts {
  readonly draft: CostTable;
  readonly target: CostTable;
}

/** Deeper drafts have not paid with any draft model that is worth having. */
const DEEPEST = 12;

/**
 * Goes on while the next level is expected to raise tokens over time: what it adds, c(next) tokens for a pass of the
 * draft model and one more row of the target's, against (1 + sum of c(drafted)) / (drafting + verifying) so far. The next
 * token is taken to be as sure as those on its path were on average.
 */
export class DepthByCost implements DepthRule {
  readonly #costs: DraftModelCosts;
  #expected = 1;
  #nodes = 1;
  #draftMs = 0;
  #passNodes = 1;

  constructor(costs: DraftModelCosts) {
    this.#costs = costs;
  }

  another({ depth, frontier, context }: Draft): boolean {
    const { draft, target } = this.#costs;
    this.#draftMs += passMs(draft, this.#passNodes, context);
    this.#nodes += frontier.length;
    this.#passNodes = frontier.length;
    for (const logProb of frontier) this.#expected += Math.exp(logProb);
    if (depth >= DEEPEST) return false;
    const gain = frontier.reduce((sum, logProb) => sum + Math.exp(logProb * (1 + 1 / depth)), 0);
    const verifyMs = passMs(target, this.#nodes, context);
    const moreMs =
      passMs(draft, frontier.length, context) +
      passMs(target, this.#nodes + frontier.length, context) -
      verifyMs;
    return gain * (this.#draftMs + verifyMs) > this.#expected * moreMs;
  }
}
