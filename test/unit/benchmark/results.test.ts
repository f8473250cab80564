import assert from 'node:assert/strict';
import { test } from 'node:test';
import { summarizeTasks } from '../../../engine/benchmark/results.ts';
import type { CostTable } from '../../../engine/model/costTable.ts';
import { attempt, measuredTask, task } from './attempts.ts';

/** T(1) = 2 ms, T(5) = 4 ms, at any context. */
const costTable: CostTable = { nodeCounts: [1, 5], contexts: [128], ms: [[2, 4]] };
const algorithms = [
  { algorithm: 'none', costTable, extraMemoryBytes: 0 },
  { algorithm: 'ngram', costTable, extraMemoryBytes: 4096 },
] as const;

const drafted = {
  completionTokens: 30,
  numSteps: 10,
  numDrafts: 8,
  numDraftTokens: 40,
  numAcceptedTokens: 20,
  numAcceptedTokensPerPos: [8, 7, 5],
  numAcceptedTokensPerSource: { document: 15, workspace: 5 },
  decodeMs: 50,
  draftMs: 5,
  verifyMs: 40,
};
const plain = { completionTokens: 30, numSteps: 30, decodeMs: 100, verifyMs: 90 };
const real = { text: 'x + 1);', covered: 2 };
const measured = [
  measuredTask(
    task(),
    attempt('none', { metrics: plain, latencyMs: 110, suggestion: real }),
    attempt('ngram', { metrics: drafted, latencyMs: 60, suggestion: real }),
  ),
  measuredTask(
    task({ taskClass: 'block' }),
    attempt('none', { metrics: { ...plain, decodeMs: 300 }, latencyMs: 310 }),
    attempt('ngram', { metrics: { ...drafted, numAcceptedTokensPerPos: [8, 6, 5, 1] }, latencyMs: 62 }),
  ),
];

const results = summarizeTasks(algorithms, measured, 1);
const resultOf = (algorithm: string, taskClass: string) =>
  results.find((one) => one.algorithm === algorithm && one.task_class === taskClass)!;

test('there is a result for each algorithm over all tasks, and one for each class that has tasks', () => {
  assert.deepEqual(
    results.map(({ algorithm, task_class, tasks }) => `${algorithm} ${task_class} ${tasks}`),
    [
      'none all 2',
      'none end_of_line 1',
      'none block 1',
      'ngram all 2',
      'ngram end_of_line 1',
      'ngram block 1',
    ],
  );
});

test('plain decoding is its own measure', () => {
  const none = resultOf('none', 'all');
  assert.equal(none.speedup, 1);
  assert.deepEqual(none.speedup_ci, [1, 1]);
  assert.equal(none.tokens_per_s, (1000 * 60) / 400);
  assert.equal(none.mean_acceptance_length, 1);
  assert.equal(none.acceptance_rate, 0);
  assert.equal(none.efficiency, 1);
  assert.deepEqual(none.accepted_per_pos, []);
});

test('speed is total time over total time, and its interval draws whole tasks', () => {
  const ngram = resultOf('ngram', 'all');
  assert.equal(ngram.speedup, 400 / 100);
  // The two tasks alone are 2x and 6x: the interval of two tasks is all there is.
  assert.deepEqual(ngram.speedup_ci, [2, 6]);
  assert.equal(ngram.tokens_per_s, (1000 * 60) / 100);
  assert.equal(resultOf('ngram', 'block').speedup, 6);
});

test('acceptance is counted as vLLM counts it, and by position', () => {
  const ngram = resultOf('ngram', 'all');
  assert.equal(ngram.mean_acceptance_length, 1 + 40 / 16);
  assert.equal(ngram.acceptance_rate, 40 / 80);
  assert.deepEqual(ngram.accepted_per_pos, [16, 13, 10, 1]);
  assert.deepEqual(ngram.acceptance_rate_per_pos, [1, 13 / 16, 10 / 16, 1 / 16]);
  assert.deepEqual(ngram.accepted_per_source, { document: 30, workspace: 10 });
});

test('times are means of a step or percentiles over tasks', () => {
  const ngram = resultOf('ngram', 'all');
  assert.equal(ngram.draft_ms, 0.5);
  assert.equal(ngram.verify_ms, 4);
  assert.equal(ngram.prefilled_tokens, 2);
  assert.equal(ngram.latency_ms.p50, 61);
  assert.equal(ngram.latency_ms.max, 62);
  assert.equal(ngram.ttft_ms.p50, 6.1);
});

test('efficiency is the speed-up over what the accepted tokens allow', () => {
  // 3 tokens a step; a step checks 1 + 4 tokens in 4 ms and drafts for 0.5 ms, a plain one takes 2 ms.
  const possible = (3 * 2) / 4.5;
  assert.equal(resultOf('ngram', 'end_of_line').efficiency, 2 / possible);
});

test('suggestions are compared with the real text, the closers that they write again included', () => {
  assert.equal(resultOf('none', 'end_of_line').exact_match, 1);
  assert.equal(resultOf('none', 'end_of_line').edit_similarity, 1);
  assert.equal(resultOf('none', 'block').exact_match, 0);
  assert.equal(resultOf('none', 'block').edit_similarity, 0);
  assert.equal(resultOf('ngram', 'all').exact_match, 0.5);
  assert.equal(resultOf('ngram', 'all').extra_memory_bytes, 4096);
});

test('one other token anywhere, or one too few, is a loss', () => {
  for (const tokens of [
    [1, 2, 4],
    [1, 2],
    [1, 2, 3, 4],
  ]) {
    const [, ngram] = summarizeTasks(
      algorithms,
      [measured[0], measuredTask(task(), attempt('none'), attempt('ngram', { tokens }))],
      1,
    ).filter(({ task_class }) => task_class === 'all');
    assert.equal(ngram.lossless, false, `${tokens}`);
  }
  assert.equal(resultOf('ngram', 'all').lossless, true);
});
