/** Observations that a prior counts for. */
const PRIOR_WEIGHT = 12;

/** Weight that an observation keeps per later one in its cell: about the last 200 count. */
const KEEP = 0.995;

/**
 * P(the target accepts a guess | it accepted the guess before it) by the cell that a guess falls into, learned from
 * what the target really accepted: per cell a Beta posterior with exponential forgetting.
 */
export class Calibration {
  readonly #accepted: Float64Array; // [cell]
  readonly #seen: Float64Array; // [cell]

  constructor(cells: number) {
    this.#accepted = new Float64Array(cells);
    this.#seen = new Float64Array(cells);
  }

  /** @param prior what the probability is taken for before anything was observed */
  probability(cell: number, prior: number): number {
    return (this.#accepted[cell] + PRIOR_WEIGHT * prior) / (this.#seen[cell] + PRIOR_WEIGHT);
  }

  observe(cell: number, accepted: boolean): void {
    this.#seen[cell] = this.#seen[cell] * KEEP + 1;
    this.#accepted[cell] = this.#accepted[cell] * KEEP + (accepted ? 1 : 0);
  }
}
