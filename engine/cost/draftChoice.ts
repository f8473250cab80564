import type { CostModel } from './costModel.ts';

/** The step that a draft is for. */
export interface DraftPlace {
  /** Committed tokens. */
  readonly context: number;
  /** Of them those that the pass evaluates in any case. */
  readonly pending: number;
  /** What drafting has cost. */
  readonly draftMs: number;
}

/** How many nodes to verify, and what comes of it. */
export interface DraftChoice {
  readonly nodes: number;
  /** Expected tokens, the bonus included, a millisecond. */
  readonly rate: number;
}

/**
 * The number of most probable nodes that maximises expected tokens over time: (1 + sum of c(v)) / (draft + T(pending + n)),
 * with c(v) the estimated probability that the target accepts the path to v. The time of a pass may have steps: all
 * numbers are tried.
 *
 * @param probabilities c(v), largest first
 */
export function chooseNodes(
  costs: CostModel,
  probabilities: ArrayLike<number>,
  { context, pending, draftMs }: DraftPlace,
): DraftChoice {
  let nodes = 0;
  let rate = 1 / (draftMs + costs.passMs(pending, context));
  let expected = 1;
  for (let i = 0; i < probabilities.length; i++) {
    expected += probabilities[i];
    const next = expected / (draftMs + costs.passMs(pending + i + 1, context));
    if (next > rate) [nodes, rate] = [i + 1, next];
  }
  return { nodes, rate };
}

/** c(v) of a tree's nodes, largest first. */
export function sortedProbabilities(logProbs: Float32Array): Float32Array {
  return logProbs
    .map((logProb) => Math.exp(logProb))
    .sort()
    .reverse();
}
