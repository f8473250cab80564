import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Evidence, NgramCalibration } from '../../../engine/draft/ngramCalibration.ts';

const evidence: Evidence = { source: 'workspace', matchLength: 5, share: 1, count: 1 };

test('before anything is known, longer matches and larger shares are likelier', () => {
  const calibration = new NgramCalibration();
  const p = (matchLength: number, share: number) =>
    calibration.probability({ ...evidence, matchLength, share });
  assert.ok(p(3, 1) < p(8, 1) && p(8, 1) < p(32, 1) && p(32, 1) < 1);
  assert.ok(p(8, 0.2) < p(8, 0.5) && p(8, 0.5) < p(8, 1) && p(8, 0.2) > 0);
});

test('what is observed counts for that kind of evidence only', () => {
  const calibration = new NgramCalibration();
  const other: Evidence = { ...evidence, source: 'document' };
  const before = calibration.probability(other);
  for (let i = 0; i < 400; i++) calibration.observe(evidence, i % 4 === 0);
  assert.ok(Math.abs(calibration.probability(evidence) - 0.25) < 0.05);
  assert.equal(calibration.probability(other), before);
});
