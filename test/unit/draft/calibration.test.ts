import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Calibration } from '../../../engine/draft/calibration.ts';
import { Random } from '../../random.ts';

function observe(calibration: Calibration, cell: number, rate: number, times: number, random: Random): void {
  for (let i = 0; i < times; i++) calibration.observe(cell, random.chance(rate));
}

test('before anything is known, the prior is the estimate', () => {
  assert.equal(new Calibration(1).probability(0, 0.3), 0.3);
});

test('estimates go to the rate of what is observed, whatever the prior, in that cell only', () => {
  const rates = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(rates, rates, fc.nat(), (rate, prior, seed) => {
      const calibration = new Calibration(2);
      observe(calibration, 1, rate, 2000, new Random(seed));
      // 200 observations in effect: four standard deviations, and what is left of the prior.
      assert.ok(Math.abs(calibration.probability(1, prior) - rate) < 4 * Math.sqrt(0.25 / 200) + 0.06);
      assert.ok(Math.abs(calibration.probability(0, prior) - prior) < 1e-9);
    }),
    { numRuns: 50 },
  );
});

test('a few observations do not outweigh the prior', () => {
  const calibration = new Calibration(1);
  observe(calibration, 0, 0, 3, new Random(1));
  assert.ok(calibration.probability(0, 0.8) > 0.6);
});

test('old observations are forgotten', () => {
  const calibration = new Calibration(1);
  const random = new Random(2);
  observe(calibration, 0, 0.1, 5000, random);
  observe(calibration, 0, 0.9, 600, random);
  assert.ok(calibration.probability(0, 0.5) > 0.8);
});
