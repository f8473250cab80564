import type { Random } from '../seededRandom.ts';
import { draw, normalise } from './distribution.ts';
import { draftNumbers } from './randomNumbers.ts';
import type { SamplingSettings } from './samplingSettings.ts';
import { targetDistribution } from './targetDistribution.ts';

/** Drafted siblings and what the first was drawn from, as `TokenTreeBuilder.addDrawn` takes them. */
export interface DrawnTokens {
  readonly tokens: readonly number[]; // at least one, distinct
  readonly draftProbs: Float64Array; // [vocab]
}

/**
 * Draws a draft model's tokens from its own distribution, under the same temperature and cuts as the target's: the
 * closer the two distributions, the more is accepted.
 */
export class DraftSampler {
  readonly #settings: SamplingSettings;
  readonly #random: Random;

  /** @param settings a temperature above 0 */
  constructor(settings: SamplingSettings) {
    this.#settings = settings;
    this.#random = draftNumbers(settings.seed);
  }

  /**
   * @param logits [vocab] of the draft model, in the target's vocabulary
   * @param count siblings to draw without replacement, at least 1; fewer come when the cuts leave fewer
   */
  draw(logits: Float32Array, count: number): DrawnTokens {
    const draftProbs = targetDistribution(logits, this.#settings);
    const rest = draftProbs.slice();
    const tokens: number[] = [];
    do {
      const token = draw(rest, this.#random);
      tokens.push(token);
      rest[token] = 0;
    } while (tokens.length < count && normalise(rest));
    return { tokens, draftProbs };
  }
}
