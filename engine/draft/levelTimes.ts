/** Weight that a run keeps per later one. */
const KEEP = 0.95;
/** Runs that the first guess at the slope counts for: half of a run's time is the same for any number of levels. */
const PRIOR_RUNS = 2;

/** What a run of a head takes by its levels: a line through the runs so far, the older ones forgotten. */
export class LevelTimes {
  #runs = 0;
  #levels = 0;
  #ms = 0;
  #levels2 = 0;
  #levelsMs = 0;

  observe(levels: number, ms: number): void {
    this.#runs = KEEP * this.#runs + 1;
    this.#levels = KEEP * this.#levels + levels;
    this.#ms = KEEP * this.#ms + ms;
    this.#levels2 = KEEP * this.#levels2 + levels * levels;
    this.#levelsMs = KEEP * this.#levelsMs + levels * ms;
  }

  /** 0 before any run: the first one is worth it. */
  ms(levels: number): number {
    if (this.#runs === 0) return 0;
    const meanLevels = this.#levels / this.#runs;
    const meanMs = this.#ms / this.#runs;
    const guess = meanMs / (2 * meanLevels);
    const variance = this.#levels2 - this.#levels * meanLevels + PRIOR_RUNS;
    const covariance = this.#levelsMs - this.#levels * meanMs + PRIOR_RUNS * guess;
    const slope = Math.max(0, covariance / variance);
    return Math.max(0, meanMs + slope * (levels - meanLevels));
  }
}
