import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Agreement, type Opinions } from '../../../engine/draft/agreement.ts';
import { Random } from '../../random.ts';

const sources = ['document', 'recycled', 'eagle3'] as const;
const BOTH = 0b011;

function opinions(...probabilities: (number | undefined)[]): Opinions {
  return probabilities.map((probability) =>
    probability === undefined ? undefined : { token: 1, probability },
  );
}

test('a source that is alone is believed about as it estimates, from the first step on', () => {
  const agreement = new Agreement(sources);
  for (const probability of [0.1, 0.3, 0.5, 0.7, 0.9]) {
    const believed = agreement.probability(opinions(probability, undefined, undefined), 0b001);
    assert.ok(Math.abs(believed - probability) < 0.06, `${probability}: ${believed}`);
  }
});

test('estimates are probabilities and rise with what sources estimate, whatever was observed', () => {
  const p = fc.double({ min: 0, max: 1, noNaN: true });
  const observed = fc.array(fc.tuple(p, p, fc.boolean()), { maxLength: 100 });
  fc.assert(
    fc.property(observed, p, p, (steps, a, b) => {
      const agreement = new Agreement(sources);
      for (const [x, y, accepted] of steps) agreement.observe(opinions(x, y, undefined), BOTH, accepted);
      const believed = agreement.probability(opinions(a, b, undefined), BOTH);
      assert.ok(believed > 0 && believed < 1);
    }),
  );
});

test('how far sources can be trusted together is learned: the estimates become right', () => {
  // The document is right when recycled agrees, and wrong half of the time when it does not.
  const agreement = new Agreement(sources);
  const random = new Random(4);
  const agreed = opinions(0.7, 0.4, undefined);
  const contradicted = opinions(0.7, undefined, undefined);
  for (let i = 0; i < 3000; i++) {
    agreement.observe(agreed, BOTH, random.chance(0.97));
    agreement.observe(contradicted, BOTH, random.chance(0.5));
  }
  assert.ok(Math.abs(agreement.probability(agreed, BOTH) - 0.97) < 0.03);
  assert.ok(Math.abs(agreement.probability(contradicted, BOTH) - 0.5) < 0.1);
});

test('what changes is followed', () => {
  const agreement = new Agreement(sources);
  const random = new Random(5);
  const said = opinions(undefined, undefined, 0.8);
  const heard = 0b100;
  for (let i = 0; i < 2000; i++) agreement.observe(said, heard, random.chance(0.9));
  for (let i = 0; i < 2000; i++) agreement.observe(said, heard, random.chance(0.3));
  assert.ok(Math.abs(agreement.probability(said, heard) - 0.3) < 0.1);
});
