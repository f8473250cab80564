import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftFigures } from '../../../../engine/bench/micro/drafts.ts';
import { StopwatchDrafter, StopwatchIndex } from '../../../../engine/bench/micro/stopwatchDrafter.ts';
import { meetsTarget } from '../../../../engine/bench/report.ts';
import { NgramDrafter } from '../../../../engine/draft/ngram.ts';
import { NgramIndex } from '../../../../engine/workspace/ngramIndex.ts';
import { prefixFirst, specialTokenIds, VOCAB_SIZE } from '../../draft/sessionView.ts';

const repeated = [5, 6, 7, 8, 9, 10, 11, 12, 5, 6, 7, 8];

test('a drafter drafts the same with a stopwatch, which knows where a suggestion begins', async () => {
  const index = new NgramIndex({ vocabSize: VOCAB_SIZE });
  index.set('other', Int32Array.from(repeated));
  const watched = new StopwatchIndex(index);
  const parts = { vocabSize: VOCAB_SIZE, specialTokenIds, workspace: watched };
  const drafter = new StopwatchDrafter(new NgramDrafter(parts));
  const first = prefixFirst({ prefix: repeated });
  const expected = new NgramDrafter({ ...parts, workspace: index }).propose(first, 8);
  assert.deepEqual(await drafter.propose(first, 8), expected);
  assert.ok(expected.size > 0);
  drafter.observe({ tree: expected, root: 8, accepted: [0], bonus: 10 });
  await drafter.propose(first, 8);
  await drafter.propose(prefixFirst({ prefix: repeated }), 8);
  assert.deepEqual(
    drafter.drafts.map(({ isFirst }) => isFirst),
    [true, false, true],
  );
  assert.equal(drafter.drafts[0].nodes, expected.size);
  assert.equal(drafter.observeMs.length, 1);
  assert.equal(watched.lookupMs.length, 3);
});

test('first drafts count by themselves, and the lookup has a limit', () => {
  const draft = (isFirst: boolean, proposeMs: number) => ({ isFirst, proposeMs, nodes: 4 });
  const times = {
    warm: [draft(true, 0.2), draft(false, 0.05)],
    cold: [draft(true, 0.6), draft(false, 0.05)],
    lookupMs: [0.02, 0.03],
    observeMs: [0.01],
    indexTokens: 12_000,
  };
  const [later, first, lookup, learn] = draftFigures(times, 2);
  assert.equal(later.measured, 50);
  assert.equal(first.measured, 600);
  assert.equal(first.baseline?.measured, 200);
  assert.equal(lookup.remark, 'p50 25.0 us; 12k tokens');
  assert.equal(meetsTarget(lookup), true);
  assert.equal(learn.measured, 10);
  const [, , slow] = draftFigures({ ...times, lookupMs: [0.2] }, 2);
  assert.equal(meetsTarget(slow), false);
});
