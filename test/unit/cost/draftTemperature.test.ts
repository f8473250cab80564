import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DraftTemperature } from '../../../engine/cost/draftTemperature.ts';
import { Random } from '../../random.ts';

/** Chains of four tokens that their drafter takes for as sure as `said`, and that are right as often as `sureness`. */
function decode(temperature: DraftTemperature, steps: number, said: number, sureness: number): number[] {
  const random = new Random(1);
  const logProbs = Float32Array.from({ length: 4 }, (_, depth) => (depth + 1) * Math.log(said));
  return Array.from({ length: steps }, () => {
    let right = 0;
    while (right < 4 && random.chance(sureness)) right++;
    temperature.observe(logProbs, right);
    return Math.exp(temperature.accepted(Math.log(said)));
  });
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

for (const [said, sureness] of [
  [0.6, 0.6],
  [0.5, 0.9],
  [0.8, 0.6],
]) {
  test(`drafts said to be right with ${said} that are with ${sureness} are soon taken for that`, () => {
    const sure = decode(new DraftTemperature(), 2000, said, sureness);
    assert.ok(Math.abs(mean(sure.slice(200)) - sureness) < 0.05, `${mean(sure.slice(200))}`);
  });
}

test('it follows a stretch where all is right, and leaves it again', () => {
  const temperature = new DraftTemperature();
  const before = mean(decode(temperature, 500, 0.6, 0.6).slice(100));
  const within = decode(temperature, 30, 0.6, 1).at(-1)!;
  const after = decode(temperature, 60, 0.6, 0.6).at(-1)!;
  assert.ok(within > 0.85, `${within}`);
  assert.ok(Math.abs(after - before) < 0.15, `${before}, then ${after}`);
});

test('whatever happens, estimates stay probabilities, and what is drafted is what is accepted read backwards', () => {
  const temperature = new DraftTemperature();
  for (const accepted of [4, 0]) {
    for (let step = 0; step < 1000; step++) {
      temperature.observe(Float32Array.of(-0.01, -1, -5, -30), accepted);
    }
    const logProb = temperature.accepted(-1);
    assert.ok(Number.isFinite(logProb) && logProb < 0, `${logProb}`);
    assert.ok(Math.abs(temperature.drafted(logProb) + 1) < 1e-9);
  }
});

test('a drafter of which nothing is verified any more is taken at its word again in the end', () => {
  const temperature = new DraftTemperature();
  decode(temperature, 1000, 0.6, 0);
  assert.ok(temperature.accepted(-1) < -2);
  for (let step = 0; step < 300; step++) temperature.observe(new Float32Array(0), 0);
  assert.ok(Math.abs(temperature.accepted(-1) + 1) < 0.05, `${temperature.accepted(-1)}`);
});
