import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chiSquaredDistributionTable } from 'simple-statistics';
import { draw } from '../../../engine/sampling/distribution.ts';
import { Random } from '../../random.ts';
import { misfit } from './goodnessOfFit.ts';

test('a table of chi-square agrees', () => {
  for (const freedom of [5, 10, 30, 100] as const) {
    // One cell off by d on either side of two equal ones gives chi-square 2 d^2 / expected.
    const expected = 1000;
    const off = Math.sqrt((chiSquaredDistributionTable[freedom][0.005] * expected) / 2);
    const counts = Array(freedom + 1).fill(expected);
    counts[0] += off;
    counts[1] -= off;
    const deviation = misfit(counts, Array(freedom + 1).fill(1 / (freedom + 1)));
    assert.ok(Math.abs(deviation - 2.576) < 0.03, `${freedom}: ${deviation}`);
  }
});

test('counts from the distribution fit it, from another one they do not', () => {
  const random = new Random(1);
  const probs = [0.4, 0.3, 0.2, 0.05, 0.04, 0.01];
  const others = [0.38, 0.32, 0.2, 0.05, 0.04, 0.01];
  const counts = Array(6).fill(0);
  for (let i = 0; i < 20_000; i++) {
    counts[draw(Float64Array.from(probs), () => random.next())]++;
  }
  assert.ok(misfit(counts, probs) < 3);
  assert.ok(misfit(counts, others) > 4);
});

test('what is impossible does not fit', () => {
  assert.ok(misfit([5000, 5000, 1], [0.5, 0.5, 0]) > 8);
});
