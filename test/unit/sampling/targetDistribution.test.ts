import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SamplingSettings } from '../../../engine/sampling/samplingSettings.ts';
import { targetDistribution } from '../../../engine/sampling/targetDistribution.ts';
import { plainDistribution } from './plainDistribution.ts';

const settings: fc.Arbitrary<SamplingSettings> = fc.record({
  temperature: fc.double({ min: 0.05, max: 4, noNaN: true }),
  topK: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 12 })),
  // Never a sum of simple fractions: whether such a limit is reached would be a matter of rounding.
  topP: fc.oneof(
    fc.constant(1),
    fc.nat(999).map((thousandths) => (thousandths + Math.SQRT1_2) / 1000),
  ),
  minP: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true })),
  seed: fc.constant(0),
});

/** Few values, so that there are ties at the cuts; impossible tokens too. */
const logits = fc
  .array(fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constant(Number.NEGATIVE_INFINITY)), {
    minLength: 1,
    maxLength: 10,
  })
  .filter((row) => row.some(Number.isFinite))
  .map((row) => Float32Array.from(row));

test('is what the definitions say, cut by cut', () => {
  fc.assert(
    fc.property(logits, settings, (row, asked) => {
      const expected = plainDistribution(row, asked);
      const actual = targetDistribution(row, asked);
      assert.equal(actual.length, row.length);
      for (const [token, probability] of actual.entries()) {
        assert.ok(Math.abs(probability - expected[token]) < 1e-12, `${[...actual]} is not ${expected}`);
      }
    }),
    { numRuns: 3000 },
  );
});

const plain: SamplingSettings = { temperature: 1, topK: 0, topP: 1, minP: 0, seed: 0 };
const row = Float32Array.from([0, Math.log(2), Math.log(4), Math.log(1), Math.log(2)]);
const kept = (asked: Partial<SamplingSettings>) => [
  ...targetDistribution(row, { ...plain, ...asked }).map((probability) => Math.round(probability * 1000)),
];

test('cuts in numbers', () => {
  assert.deepEqual(kept({}), [100, 200, 400, 100, 200]);
  assert.deepEqual(kept({ topK: 2 }), [0, 333, 667, 0, 0], 'of equals the lower one stays');
  assert.deepEqual(kept({ topK: 1 }), [0, 0, 1000, 0, 0]);
  assert.deepEqual(kept({ topP: 0.4 }), [0, 0, 1000, 0, 0]);
  assert.deepEqual(kept({ topP: 0.41 }), [0, 333, 667, 0, 0], 'the token that crosses the limit stays');
  assert.deepEqual(kept({ topK: 3, topP: 0.7 }), [0, 333, 667, 0, 0], 'top-p of what top-k left');
  assert.deepEqual(kept({ minP: 0.49 }), [0, 250, 500, 0, 250]);
  assert.deepEqual(kept({ temperature: 0.5, topP: 0.7 }), [0, 200, 800, 0, 0], 'temperature comes first');
});

test('the coldest temperature is the argmax, and equals share it', () => {
  assert.deepEqual([...targetDistribution(row, { ...plain, temperature: 1e-300 })], [0, 0, 1, 0, 0]);
  const tied = Float32Array.from([5, 9, 9]);
  assert.deepEqual([...targetDistribution(tied, { ...plain, temperature: 1e-6 })], [0, 0.5, 0.5]);
});
