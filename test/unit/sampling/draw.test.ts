import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { draw, normalise } from '../../../engine/sampling/distribution.ts';
import { DraftSampler } from '../../../engine/sampling/draftSampler.ts';
import { draftNumbers, targetNumbers } from '../../../engine/sampling/randomNumbers.ts';
import { misfit } from './goodnessOfFit.ts';

const almostOne = 1 - 2 ** -53;

test('a number lands on the token whose share of the whole holds it', () => {
  const probs = Float64Array.of(0, 0.25, 0, 0.5, 0.25, 0);
  const tokenAt = (number: number) => draw(probs, () => number);
  assert.deepEqual([0, 0.2499, 0.25, 0.7499, 0.75, almostOne].map(tokenAt), [1, 1, 3, 3, 4, 4]);
});

test('no number, however rounded, lands on an impossible token', () => {
  const weights = fc
    .array(fc.oneof(fc.constant(0), fc.double({ min: 1e-12, max: 1, noNaN: true })), {
      minLength: 1,
      maxLength: 30,
    })
    .filter((row) => row.some((weight) => weight > 0));
  const numbers = fc.oneof(
    fc.constantFrom(0, almostOne),
    fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  );
  fc.assert(
    fc.property(weights, numbers, (row, number) => {
      const probs = Float64Array.from(row);
      assert.ok(normalise(probs));
      assert.ok(probs[draw(probs, () => number)] > 0);
    }),
    { numRuns: 3000 },
  );
});

test('nothing can be made of weights that are all 0', () => {
  assert.equal(normalise(new Float64Array(3)), false);
});

test('the first numbers of small seeds are spread evenly, alone and in pairs', () => {
  const [first, pairs] = [Array(16).fill(0), Array(256).fill(0)];
  for (let seed = 0; seed < 20_000; seed++) {
    const random = targetNumbers(seed);
    const [a, b] = [Math.floor(16 * random()), Math.floor(16 * random())];
    first[a]++;
    pairs[16 * a + b]++;
  }
  assert.ok(misfit(first, Array(16).fill(1 / 16)) < 3);
  assert.ok(misfit(pairs, Array(256).fill(1 / 256)) < 3);
});

test('a seed gives the same numbers again, and others to the drafter', () => {
  const ten = (random: () => number) => Array.from({ length: 10 }, random);
  assert.deepEqual(ten(targetNumbers(7)), ten(targetNumbers(7)));
  const drafters = new Set(ten(draftNumbers(7)));
  for (let seed = 0; seed < 100; seed++) {
    assert.ok(ten(targetNumbers(seed)).every((number) => !drafters.has(number)));
  }
});

test('siblings are drawn without replacement', () => {
  const probs = [0.5, 0.3, 0.15, 0.05];
  const logits = Float32Array.from(probs, Math.log);
  const settings = { temperature: 1, topK: 0, topP: 1, minP: 0, seed: 5 };
  const sampler = new DraftSampler(settings);
  const counts = Array(16).fill(0);
  for (let i = 0; i < 20_000; i++) {
    const [a, b] = sampler.draw(logits, 2).tokens;
    counts[4 * a + b]++;
  }
  const expected = probs.flatMap((p, a) => probs.map((q, b) => (a === b ? 0 : (p * q) / (1 - p))));
  assert.ok(misfit(counts, expected) < 3);
  const cut = new DraftSampler({ ...settings, topK: 2 }).draw(logits, 4);
  assert.deepEqual([...cut.tokens].sort(), [0, 1], 'no more than the cuts leave');
});
