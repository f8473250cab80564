import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AlgorithmResult } from '../../../engine/benchmark/benchmarkReport.ts';
import { verdictOn } from '../../../engine/benchmark/verdict.ts';
import type { Algorithm } from '../../../engine/protocol.ts';

type Speeds = Partial<Record<Algorithm, readonly [speedup: number, low: number, high: number]>>;

const overall = (speeds: Speeds) =>
  (Object.entries({ none: [1, 1, 1], ...speeds }) as [Algorithm, readonly number[]][]).map(
    ([algorithm, [speedup, low, high]]) =>
      ({
        algorithm,
        task_class: 'all',
        speedup,
        speedup_ci: [low, high],
      }) as unknown as AlgorithmResult,
  );

test('the fastest is named with its speed-up, then the others', () => {
  const { fastest, summary } = verdictOn(
    overall({ auto: [2.71, 2.5, 2.9], eagle3: [2.2, 2, 2.4], ngram: [1.31, 1.2, 1.4] }),
    [],
  );
  assert.equal(fastest, 'auto');
  assert.equal(
    summary,
    'auto is 2.7x faster than plain decoding here; EAGLE-3 alone 2.2x; n-gram alone 1.3x.',
  );
});

test('auto is chosen unless another one is faster beyond doubt', () => {
  const near = verdictOn(overall({ auto: [2.6, 2.4, 2.8], eagle3: [2.7, 2.5, 2.9] }), []);
  assert.equal(near.fastest, 'auto');
  const far = verdictOn(overall({ auto: [1.5, 1.4, 1.6], eagle3: [2.7, 2.5, 2.9] }), []);
  assert.equal(far.fastest, 'eagle3');
  assert.equal(far.summary, 'EAGLE-3 is 2.7x faster than plain decoding here; auto 1.5x.');
});

test('what may be chance is no reason to change', () => {
  const { fastest, summary } = verdictOn(overall({ ngram: [1.04, 0.97, 1.1], auto: [0.9, 0.8, 1] }), []);
  assert.equal(fastest, 'none');
  assert.match(
    summary,
    /^No algorithm is measurably faster than plain decoding here \(n-gram, .* 1\.04x .* 0\.97x to 1\.10x\)\.$/,
  );
  assert.match(verdictOn(overall({}), []).summary, /^Nothing but plain decoding/);
});

test('the fastest that is faster beyond doubt is chosen, not one that may be', () => {
  const { fastest, summary } = verdictOn(
    overall({ eagle3: [1.5, 0.9, 2.2], ngram: [1.4, 1.3, 1.5], auto: [0.9, 0.8, 1] }),
    [],
  );
  assert.equal(fastest, 'ngram');
  assert.equal(
    summary,
    'n-gram is 1.4x faster than plain decoding here; EAGLE-3 1.5x (uncertain: 0.90x to 2.2x); auto 0.90x.',
  );
});

test('what changes the text is never chosen, and said first', () => {
  const difference = {
    task: 0,
    algorithm: 'eagle3',
    position: 2,
    expected: null,
    actual: null,
    is_fault: true,
    cause: '',
  } as const;
  const speeds = overall({ auto: [1.5, 1.4, 1.6], eagle3: [2.7, 2.5, 2.9] });
  const { fastest, summary } = verdictOn(speeds, [difference, { ...difference, task: 1 }]);
  assert.equal(fastest, 'auto');
  assert.match(
    summary,
    /^ERROR: EAGLE-3 wrote something else than plain decoding; do not use it\. auto is 1\.5x/,
  );

  const nearTie = verdictOn(speeds, [{ ...difference, is_fault: false }]);
  assert.equal(nearTie.fastest, 'eagle3');
  assert.match(nearTie.summary, /^EAGLE-3 is 2\.7x/);
});
