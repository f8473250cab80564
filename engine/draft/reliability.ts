import { type DraftSource, draftSources } from '../tree/tokenTree.ts';

const BUCKETS = 10;

/** How often the target wrote what was guessed with about the same probability. */
export interface ReliabilityBucket {
  readonly source: DraftSource;
  /** Mean of the estimates. */
  readonly predicted: number;
  /** Part of the guesses that the target wrote. */
  readonly accepted: number;
  readonly count: number;
}

/** Predicted against real acceptance: equal where estimates are calibrated. */
export class Reliability {
  readonly #predicted = new Float64Array(draftSources.length * BUCKETS);
  readonly #accepted = new Float64Array(draftSources.length * BUCKETS);
  readonly #counts = new Float64Array(draftSources.length * BUCKETS);

  observe(source: DraftSource, probability: number, accepted: boolean): void {
    const bucket = Math.min(BUCKETS - 1, Math.floor(probability * BUCKETS));
    const i = draftSources.indexOf(source) * BUCKETS + bucket;
    this.#predicted[i] += probability;
    this.#accepted[i] += accepted ? 1 : 0;
    this.#counts[i]++;
  }

  /** By source, then from improbable to probable; empty ones left out. */
  get buckets(): readonly ReliabilityBucket[] {
    return Array.from(this.#counts, (count, i) => ({
      source: draftSources[Math.floor(i / BUCKETS)],
      predicted: this.#predicted[i] / count,
      accepted: this.#accepted[i] / count,
      count,
    })).filter(({ count }) => count > 0);
  }
}
