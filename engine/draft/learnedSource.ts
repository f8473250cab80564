import { type DraftSource, emptyTree, ROOT, type TokenTree } from '../tree/tokenTree.ts';
import { Calibration } from './calibration.ts';
import type { Guess, GuessSource, PathEnd } from './guess.ts';

/** Lower ends of the buckets of a learned drafter's own probabilities. */
const PROBABILITIES = [0, 0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97];
const DEPTHS = 6;

interface LearnedGuess extends Guess {
  /** In the learned drafter's tree. */
  readonly node: number;
  readonly cell: number;
}

/**
 * What a learned drafter proposed for this step, node by node. Its probabilities are its own belief, which fades slower
 * with depth than its luck: they are calibrated by both.
 */
export class LearnedSource implements GuessSource<LearnedGuess> {
  readonly name: DraftSource;
  readonly #calibration = new Calibration(PROBABILITIES.length * DEPTHS);
  #tree = emptyTree;

  constructor(name: DraftSource) {
    this.name = name;
  }

  /** Empty where the drafter was not asked. */
  set tree(tree: TokenTree) {
    this.#tree = tree;
  }

  after({ depth }: PathEnd, own: LearnedGuess | undefined): readonly LearnedGuess[] {
    const { size, tokens, parents, logProbs } = this.#tree;
    if (depth > 0 && !own) return [];
    const parent = own ? own.node : ROOT;
    const parentLogProb = own ? logProbs[parent] : 0;
    const guesses: LearnedGuess[] = [];
    for (let node = parent + 1; node < size; node++) {
      // What is impossible is no guess: the difference of two infinities would be NaN, and stay in all that learns.
      if (parents[node] !== parent || !Number.isFinite(logProbs[node])) continue;
      const believed = Math.exp(logProbs[node] - parentLogProb);
      const cell = cellOf(believed, depth);
      guesses.push({
        token: tokens[node],
        probability: this.#calibration.probability(cell, believed),
        node,
        cell,
      });
    }
    return guesses;
  }

  learn({ cell }: LearnedGuess, accepted: boolean): void {
    this.#calibration.observe(cell, accepted);
  }
}

function cellOf(probability: number, depth: number): number {
  const bucket = PROBABILITIES.findLastIndex((least) => probability >= least);
  return Math.min(depth, DEPTHS - 1) * PROBABILITIES.length + bucket;
}
