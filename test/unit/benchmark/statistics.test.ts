import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  groupedMeanEstimate,
  meanEstimate,
  percentiles,
  speedUp,
} from '../../../engine/benchmark/statistics.ts';
import { seededRandom } from '../../../engine/seededRandom.ts';

test('percentiles interpolate between the two values they fall between', () => {
  const values = Array.from({ length: 101 }, (_, i) => 100 - i);
  assert.deepEqual(percentiles(values), { p50: 50, p90: 90, p99: 99, max: 100 });
  assert.equal(percentiles([1, 2]).p50, 1.5);
  assert.deepEqual(percentiles([7]), { p50: 7, p90: 7, p99: 7, max: 7 });
});

test('a speed-up is the ratio of the totals: long tasks weigh more than short ones', () => {
  const pairs = [
    { baseline: 30, candidate: 10 },
    { baseline: 1, candidate: 1 },
  ];
  assert.equal(speedUp(pairs, seededRandom(1)).value, 31 / 11);
});

test('tasks that agree leave no doubt', () => {
  const pairs = Array.from({ length: 20 }, (_, i) => ({ baseline: 2 * (i + 1), candidate: i + 1 }));
  assert.deepEqual(speedUp(pairs, seededRandom(1)), { value: 2, low: 2, high: 2 });
});

test('the interval is as wide as the textbook says for the mean of a known spread', () => {
  const random = seededRandom(5);
  const pairs = Array.from({ length: 400 }, () => ({ baseline: 100 + 20 * normal(random), candidate: 50 }));
  const { value, low, high } = speedUp(pairs, seededRandom(6));
  // Standard error of the ratio: 20 / sqrt(400) / 50 = 0.02; the interval spans 2 * 1.96 of them.
  assert.ok(Math.abs(high - low - 0.0784) < 0.01, `${low} .. ${high}`);
  assert.ok(low < value && value < high);
});

test('intervals of many samples hold the true ratio about as often as they claim', () => {
  const random = seededRandom(7);
  let held = 0;
  for (let trial = 0; trial < 100; trial++) {
    const pairs = Array.from({ length: 60 }, () => ({
      baseline: 130 + 30 * normal(random),
      candidate: 100 + 10 * normal(random),
    }));
    const { low, high } = speedUp(pairs, random);
    if (low <= 1.3 && 1.3 <= high) held++;
  }
  assert.ok(held >= 88 && held < 100, `${held} of 100`);
});

test('a share of successes has the interval of its binomial', () => {
  const successes = Array.from({ length: 400 }, (_, i) => (i % 4 === 0 ? 1 : 0));
  const { value, low, high } = meanEstimate(successes, seededRandom(8));
  assert.equal(value, 0.25);
  // Standard error: sqrt(0.25 * 0.75 / 400) = 0.0217.
  assert.ok(Math.abs(low - 0.2076) < 0.01 && Math.abs(high - 0.2924) < 0.01, `${low} .. ${high}`);
  assert.deepEqual(meanEstimate([1, 1, 1], seededRandom(8)), { value: 1, low: 1, high: 1 });
});

test('values that come in groups have the wider interval of their groups', () => {
  // Ten groups of forty values that are all alike: ten draws, however many values.
  const groups = Array.from({ length: 10 }, (_, group) =>
    Array.from({ length: 40 }, () => Number(group < 5)),
  );
  const grouped = groupedMeanEstimate(groups, seededRandom(7));
  const alone = meanEstimate(groups.flat(), seededRandom(7));
  assert.equal(grouped.value, 0.5);
  // Standard errors: sqrt(0.25 / 10) = 0.158 and sqrt(0.25 / 400) = 0.025.
  assert.ok(Math.abs(grouped.high - grouped.low - 0.6) <= 0.1, `${grouped.low} .. ${grouped.high}`);
  assert.ok(alone.high - alone.low < 0.12);
  const uneven = groupedMeanEstimate([[1], [0, 0, 0]], seededRandom(7));
  assert.equal(uneven.value, 0.25);
});

test('the same seed draws the same interval, another one another', () => {
  const pairs = [1, 5, 2, 8, 3].map((baseline) => ({ baseline, candidate: 2 }));
  assert.deepEqual(speedUp(pairs, seededRandom(3)), speedUp(pairs, seededRandom(3)));
});

test('the interval lies within the ratios of the single tasks', () => {
  const time = fc.double({ min: 0.01, max: 1000, noNaN: true });
  const pairs = fc.array(fc.record({ baseline: time, candidate: time }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(pairs, fc.integer(), (sample, seed) => {
      const ratios = sample.map(({ baseline, candidate }) => baseline / candidate);
      const { low, value, high } = speedUp(sample, seededRandom(seed));
      const slack = 1 + 1e-9;
      assert.ok(Math.min(...ratios) <= low * slack && low <= high && high <= Math.max(...ratios) * slack);
      assert.ok(Math.min(...ratios) <= value * slack && value <= Math.max(...ratios) * slack);
    }),
    { numRuns: 50 },
  );
});

/** Box-Muller. */
function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
