import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import {
  completionMetrics,
  MetricsRecorder,
  meanAcceptanceLength,
  tokensPerSecond,
} from '../../engine/metrics.ts';
import { emptyTree, ROOT } from '../../engine/tree/tokenTree.ts';
import { TokenTreeBuilder } from '../../engine/tree/tokenTreeBuilder.ts';

const builder = new TokenTreeBuilder();
const first = builder.add(ROOT, 1, -0.1, 'document');
const second = builder.add(first, 2, -0.1, 'workspace');
builder.add(second, 3, -0.1, 'workspace');
const chain = builder.build(3);

test('counts follow their definitions: steps, drafts, accepted by position and by source', () => {
  const recorder = new MetricsRecorder(100, 7);
  recorder.decodeStarted();
  recorder.step(emptyTree, [], 0, 1);
  recorder.step(chain, [], 0.5, 2);
  recorder.step(chain, [0], 0.5, 2);
  recorder.step(chain, [0, 1, 2], 0.5, 2);
  const metrics = recorder.finish(8);
  const { prefillMs, ttftMs, decodeMs, ...counts } = metrics;
  assert.deepEqual(counts, {
    promptTokens: 100,
    prefilledTokens: 7,
    completionTokens: 8,
    numSteps: 4,
    numDrafts: 3,
    numDraftTokens: 9,
    numAcceptedTokens: 4,
    numAcceptedTokensPerPos: [2, 1, 1],
    numAcceptedTokensPerSource: { document: 2, workspace: 2 },
    draftMs: 1.5,
    verifyMs: 7,
  });
  assert.ok(prefillMs >= 0 && ttftMs >= prefillMs && ttftMs <= prefillMs + decodeMs);
  assert.equal(meanAcceptanceLength(metrics), 1 + 4 / 3);
  assert.equal(tokensPerSecond({ ...metrics, decodeMs: 16 }), 500);
  const shown = completionMetrics('ngram', metrics, { 'a.ts': 2 });
  assert.equal(shown.algorithm, 'ngram');
  assert.equal(shown.meanAcceptanceLength, 1 + 4 / 3);
  assert.deepEqual(shown.numAcceptedTokensPerFile, { 'a.ts': 2 });
});

test('the first token is counted from when it was asked for', () => {
  const recorder = new MetricsRecorder(1, 1, performance.now() - 500);
  recorder.decodeStarted();
  recorder.step(emptyTree, [], 0, 1);
  const { ttftMs, prefillMs } = recorder.finish(1);
  assert.ok(ttftMs >= 500 && prefillMs < 500, `${ttftMs} ${prefillMs}`);
});

test('the first token is counted from the request on, decoding from the end of the prefill', async () => {
  const recorder = new MetricsRecorder(1, 1);
  await setTimeout(20);
  recorder.decodeStarted();
  recorder.step(emptyTree, [], 0, 1);
  const { ttftMs, decodeMs } = recorder.finish(1);
  assert.ok(ttftMs >= 19, `${ttftMs}`);
  assert.ok(decodeMs < ttftMs);
});

test('a generation without a step has no rates', () => {
  const metrics = new MetricsRecorder(1, 0).finish(0);
  assert.deepEqual([metrics.prefillMs, metrics.ttftMs, metrics.decodeMs], [0, 0, 0]);
  assert.equal(meanAcceptanceLength(metrics), 1);
  assert.equal(tokensPerSecond(metrics), 0);
});
