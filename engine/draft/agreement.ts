import type { DraftSource } from '../tree/tokenTree.ts';
import type { Guess } from './guess.ts';

/** What is said of one token: by each source its guess, undefined where it did not guess it. */
export type Opinions = readonly (Guess | undefined)[]; // [source]

/** How much a source's word counts: terms of the logit of the probability. */
interface Weights {
  /** It guesses the token. */
  readonly present: number;
  /** Times the logit of its own estimate. */
  readonly slope: number;
  /** It guesses other tokens only. */
  readonly elsewhere: number;
}

const learnedWeights: Weights = { present: 1.35, slope: 0.45, elsewhere: -0.6 };

/**
 * Fitted to code that is neither trained on nor measured with. Where sources guess something else, that is strong
 * evidence: the largest of several estimates is far too high there.
 */
const INITIAL: Readonly<Record<DraftSource, Weights>> = {
  lastSuggestion: { present: 1.1, slope: 0.6, elsewhere: -1.2 },
  document: { present: 1, slope: 0.5, elsewhere: -1.15 },
  workspace: { present: 0.9, slope: 0.5, elsewhere: -1.3 },
  // A guess, and not fitted.
  changedCopy: { present: 0.9, slope: 0.5, elsewhere: -0.6 },
  recycled: { present: 0.65, slope: 0.4, elsewhere: -0.3 },
  eagle: learnedWeights,
  eagle3: learnedWeights,
  mtp: learnedWeights,
  medusa: learnedWeights,
  draftModel: learnedWeights,
};
const BIAS = -0.95;
/** Added to the slope of a source that is alone with the token. */
const ALONE = 0.45;

/** Of the rates tried between 0.001 and 0.05 those around it predicted best. */
const LEARNING_RATE = 0.015;
/** Estimates beyond 0.5 % and 99.5 % are taken for these. */
const LARGEST_LOGIT = 5.3;

/** Layout of the weights: bias, alone, then three a source. */
const FIRST = 2;
const STRIDE = 3;

/**
 * One probability of what several sources say: logistic mixing as in PAQ (Mahoney, "Adaptive weighing of context models
 * for lossless data compression", 2005), with weights that are learned from what the target really writes.
 */
export class Agreement {
  readonly #weights: Float64Array;

  constructor(sources: readonly DraftSource[]) {
    const initial = sources.map((source) => INITIAL[source]);
    this.#weights = Float64Array.from([
      BIAS,
      ALONE,
      ...initial.flatMap(({ present, slope, elsewhere }) => [present, slope, elsewhere]),
    ]);
  }

  /** @param heard bit i: source i guesses anything here */
  probability(opinions: Opinions, heard: number): number {
    const weights = this.#weights;
    let logit = weights[0];
    let present = 0;
    let sum = 0;
    for (let source = 0, at = FIRST; source < opinions.length; source++, at += STRIDE) {
      const guess = opinions[source];
      if (guess) {
        const own = logitOf(guess.probability);
        logit += weights[at] + weights[at + 1] * own;
        sum += own;
        present++;
      } else if (heard & (1 << source)) logit += weights[at + 2];
    }
    if (present === 1) logit += weights[1] * sum;
    return 1 / (1 + Math.exp(-logit));
  }

  /** A step of gradient descent on the coding cost, -log P(what the target wrote). */
  observe(opinions: Opinions, heard: number, accepted: boolean): void {
    const weights = this.#weights;
    const step = LEARNING_RATE * ((accepted ? 1 : 0) - this.probability(opinions, heard));
    weights[0] += step;
    let present = 0;
    let sum = 0;
    for (let source = 0, at = FIRST; source < opinions.length; source++, at += STRIDE) {
      const guess = opinions[source];
      if (guess) {
        const own = logitOf(guess.probability);
        weights[at] += step;
        weights[at + 1] += step * own;
        sum += own;
        present++;
      } else if (heard & (1 << source)) weights[at + 2] += step;
    }
    if (present === 1) weights[1] += step * sum;
  }
}

function logitOf(probability: number): number {
  const logit = Math.log(probability / (1 - probability));
  return Math.max(-LARGEST_LOGIT, Math.min(LARGEST_LOGIT, logit));
}
