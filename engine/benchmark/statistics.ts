import { mean, quantile, sampleWithReplacement } from 'simple-statistics';
import type { Random } from '../seededRandom.ts';
import type { Percentiles } from './benchmarkReport.ts';

export { mean, median } from 'simple-statistics';

/** @param values at least one */
export function percentiles(values: readonly number[]): Percentiles {
  const [p50, p90, p99, max] = quantile([...values], [0.5, 0.9, 0.99, 1]);
  return { p50, p90, p99, max };
}

/** The same work done in two ways; times in ms, or any other unit. */
export interface Pair {
  readonly baseline: number;
  readonly candidate: number;
}

export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 2000;
const CONFIDENCE = 0.95;

/**
 * How many times faster the candidate is: total baseline time over total candidate time. Whole pairs are drawn,
 * because both sides of a pair share their task and what disturbed the machine meanwhile.
 *
 * @param pairs at least one
 */
export function speedUp(pairs: readonly Pair[], random: Random): Estimate {
  return bootstrap(pairs, ratio, random);
}

/** @param values at least one */
export function meanEstimate(values: readonly number[], random: Random): Estimate {
  return bootstrap(values, mean, random);
}

/**
 * The mean of all values, with an interval for values that come in groups of the same kind (the lines of a function):
 * whole groups are drawn.
 *
 * @param groups at least one value in all
 */
export function groupedMeanEstimate(groups: readonly (readonly number[])[], random: Random): Estimate {
  return bootstrap(groups, (drawn) => mean(drawn.flat()), random);
}

/** With the interval of the percentile bootstrap (Efron and Tibshirani 1993, chapter 13). */
function bootstrap<Item>(
  items: readonly Item[],
  statistic: (drawn: Item[]) => number,
  random: Random,
): Estimate {
  const drawn = Array.from({ length: RESAMPLES }, () =>
    statistic(sampleWithReplacement([...items], items.length, random)),
  );
  const tail = (1 - CONFIDENCE) / 2;
  const [low, high] = quantile(drawn, [tail, 1 - tail]);
  return { value: statistic([...items]), low, high };
}

function ratio(pairs: readonly Pair[]): number {
  let baseline = 0;
  let candidate = 0;
  for (const pair of pairs) {
    baseline += pair.baseline;
    candidate += pair.candidate;
  }
  return baseline / candidate;
}
