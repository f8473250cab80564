/** What a token more or less than expected moves the exponent's logarithm by: some ten steps are remembered. */
const RATE = 0.05;
/** Where it ends: beyond, a drafter is as good as always or never right. */
const LEAST_EXPONENT = 0.1;
const LARGEST_EXPONENT = 4;
/** Part of the exponent's logarithm that is kept by a draft of which nothing was worth verifying. */
const FORGET = 0.98;

/**
 * How much likelier drafts are right, here and now, than their drafter says: temperature scaling (Guo et al.,
 * arXiv 1706.04599) of whole paths, learned while decoding. A drafter estimates how probable a token is; greedy decoding
 * accepts the most probable one more often than that, and where a completion runs in a circle nearly always. The exponent
 * follows such stretches within a few steps: it moves until as many tokens are accepted as are expected.
 */
export class DraftTemperature {
  #exponent = 1;

  /** Log-probability that a path is accepted which its drafter gives `logProb`. */
  accepted(logProb: number): number {
    return this.#exponent * logProb;
  }

  /** What a drafter says of a path that is accepted with log-probability `logProb`. */
  drafted(logProb: number): number {
    return logProb / this.#exponent;
  }

  /**
   * @param logProbs of the paths to the nodes that were verified, as the drafter gave them; when there are none, nothing is
   *   learned, and what was learned before is slowly forgotten, so that drafting gets another chance
   * @param accepted how many of them were right
   */
  observe(logProbs: Float32Array, accepted: number): void {
    if (logProbs.length === 0) {
      this.#exponent **= FORGET;
      return;
    }
    const expected = logProbs.reduce((sum, logProb) => sum + Math.exp(this.accepted(logProb)), 0);
    const moved = this.#exponent * Math.exp(RATE * (expected - accepted));
    this.#exponent = Math.min(LARGEST_EXPONENT, Math.max(LEAST_EXPONENT, moved));
  }
}
