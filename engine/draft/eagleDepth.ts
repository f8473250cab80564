import type { CostModel } from '../cost/costModel.ts';
import type { DraftTemperature } from '../cost/draftTemperature.ts';
import { ROOT, type TokenTree } from '../tree/tokenTree.ts';
import { LevelTimes } from './levelTimes.ts';

/** The step that is drafted for. */
export interface DepthPlace {
  /** Committed tokens. */
  readonly context: number;
  /** Of them those that the target's pass evaluates in any case. */
  readonly pending: number;
}

/** What came of a draft. */
export interface DraftOutcome extends DepthPlace {
  /** What was verified. */
  readonly tree: TokenTree;
  /** Indices of the accepted nodes, root to leaf. */
  readonly accepted: readonly number[];
}

/** Rows that the cost of one is averaged over. */
const ROWS = 8;
/** Weight that a step keeps per later one. */
const KEEP = 0.95;
/** Steps that the first guesses count for: a token in a pass, the next token right in two cases of three. */
const FIRST_STEPS = 2;
const FIRST_SURENESS = 2 / 3;
/** However dear levels seem, the first one and what is nearly certain are drafted: costs are only learned from drafts. */
const LARGEST = 0.9;

/**
 * Where a draft ends for want of probability. A level behind a path of probability c brings in c * p tokens, p being how
 * often a token is right after a right one; it takes a step of the head and one more row of the target's pass. It pays
 * where that is a better rate than decoding has without it.
 */
export class EagleDepth {
  readonly #costs: CostModel;
  readonly #temperature: DraftTemperature;
  readonly #times = new LevelTimes();
  #draftMs = 0;
  #tokens = 0;
  #ms = 0;
  #right = FIRST_SURENESS * FIRST_STEPS;
  #guessed = FIRST_STEPS;

  /** @param temperature of the head's estimates, which somebody else observes */
  constructor(costs: CostModel, temperature: DraftTemperature) {
    this.#costs = costs;
    this.#temperature = temperature;
  }

  /** What the head says at least of a path that another level is worth drafting after: log-probability. */
  leastLogProb({ context, pending }: DepthPlace): number {
    const passMs = this.#costs.passMs(pending, context);
    const rowMs = this.#costs.rowMs(pending, context, ROWS);
    const levelMs = this.#times.ms(2) - this.#times.ms(1);
    const rate = (this.#tokens + FIRST_STEPS) / (this.#ms + FIRST_STEPS * passMs);
    const sureness = this.#right / this.#guessed;
    const least = Math.min(LARGEST, (rate * (levelMs + rowMs)) / sureness);
    return this.#temperature.drafted(Math.log(least));
  }

  drafted(levels: number, ms: number): void {
    this.#times.observe(levels, ms);
    this.#draftMs = ms;
  }

  observe({ context, pending, tree, accepted }: DraftOutcome): void {
    const right = accepted.length;
    // Where nothing was drafted after the last right token, nothing was wrong either.
    const wrong = tree.parents.includes(accepted.at(-1) ?? ROOT) ? 1 : 0;
    this.#tokens = KEEP * this.#tokens + right + 1;
    this.#ms = KEEP * this.#ms + this.#draftMs + this.#costs.passMs(pending + tree.size, context);
    this.#right = KEEP * this.#right + right;
    this.#guessed = KEEP * this.#guessed + right + wrong;
  }
}
