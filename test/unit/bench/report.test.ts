import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meetsTarget, sectionText } from '../../../engine/bench/report.ts';

const section = { title: 'Speed', notes: ['How to read it.'], details: {} };

test('figures stand in columns with their baseline and whether they reach their target', () => {
  const text = sectionText({
    ...section,
    figures: [
      {
        name: 'decode',
        unit: 'x',
        measured: { value: 1.314, low: 1.2, high: 1.456 },
        target: { atLeast: 1.3 },
      },
      {
        name: 'p50',
        unit: 'ms',
        measured: 140.4,
        baseline: { name: 'floor', measured: 87 },
        target: { atMost: 120 },
      },
    ],
    faults: [],
  });
  assert.equal(
    text,
    [
      'Speed',
      '  decode  1.31 [1.20, 1.46] x                at least 1.30: reached',
      '  p50     140 ms               floor 87.0    at most 120: MISSED',
      '  How to read it.',
      '',
    ].join('\n'),
  );
});

test('faults are shown as errors', () => {
  assert.match(sectionText({ ...section, figures: [], faults: ['differs'] }), /ERROR differs/);
});

test('a target counts for the estimate itself; without one there is nothing to meet', () => {
  const figure = { name: '', unit: '', measured: { value: 2, low: 1, high: 3 } };
  assert.equal(meetsTarget(figure), undefined);
  assert.equal(meetsTarget({ ...figure, target: { atLeast: 2 } }), true);
  assert.equal(meetsTarget({ ...figure, target: { atMost: 1.9 } }), false);
});
