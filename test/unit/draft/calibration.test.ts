import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Calibration, type Evidence } from '../../../engine/draft/calibration.ts';

const evidence: Evidence = { source: 'workspace', matchLength: 5, share: 1, count: 1 };

function observe(calibration: Calibration, about: Evidence, rate: number, times: number): void {
  for (let i = 0; i < times; i++) {
    calibration.observe(about, Math.floor((i + 1) * rate) > Math.floor(i * rate));
  }
}

test('before anything is known, longer matches and larger shares are likelier', () => {
  const calibration = new Calibration();
  const p = (matchLength: number, share: number) =>
    calibration.probability({ ...evidence, matchLength, share });
  assert.ok(p(3, 1) < p(8, 1) && p(8, 1) < p(32, 1) && p(32, 1) < 1);
  assert.ok(p(8, 0.2) < p(8, 0.5) && p(8, 0.5) < p(8, 1) && p(8, 0.2) > 0);
});

test('estimates go to what is observed, for that kind of evidence only', () => {
  const calibration = new Calibration();
  const other: Evidence = { ...evidence, source: 'document' };
  const before = calibration.probability(other);
  observe(calibration, evidence, 0.25, 400);
  assert.ok(Math.abs(calibration.probability(evidence) - 0.25) < 0.05);
  assert.equal(calibration.probability(other), before);
});

test('old observations are forgotten', () => {
  const calibration = new Calibration();
  observe(calibration, evidence, 0.1, 5000);
  observe(calibration, evidence, 0.9, 600);
  assert.ok(calibration.probability(evidence) > 0.8);
});
