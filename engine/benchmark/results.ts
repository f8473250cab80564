import { mean, sum } from 'simple-statistics';
import { type Likeness, likeness, nothingAlike } from '../eval/score.ts';
import type { DecodeMetrics } from '../metrics.ts';
import { type CostTable, passMs } from '../model/costTable.ts';
import type { Algorithm } from '../protocol.ts';
import { seededRandom } from '../seededRandom.ts';
import type { DraftSource } from '../tree/tokenTree.ts';
import { type AlgorithmResult, type TaskClass, taskClasses } from './benchmarkReport.ts';
import type { Attempt } from './contender.ts';
import { firstDifference } from './firstDifference.ts';
import type { MeasuredTask } from './measure.ts';
import { type Pair, percentiles, speedUp } from './statistics.ts';
import type { BenchmarkTask } from './tasks/task.ts';

/** What the results of an algorithm need beside its attempts. */
export interface ContenderFacts {
  readonly algorithm: Algorithm;
  readonly costTable: CostTable;
  readonly extraMemoryBytes: number;
}

/**
 * Sums up what was measured: for each algorithm a result over all tasks, then one for each class that has tasks.
 *
 * @param algorithms `none` first
 * @param measured at least one task
 * @param seed of the intervals' resampling
 */
export function summarizeTasks(
  algorithms: readonly ContenderFacts[],
  measured: readonly MeasuredTask[],
  seed: number,
): AlgorithmResult[] {
  const [plain] = algorithms;
  return algorithms.flatMap((facts) =>
    (['all', ...taskClasses] as const)
      .map((taskClass) => ({ taskClass, own: ofClass(measured, taskClass) }))
      .filter(({ own }) => own.length > 0)
      .map(({ taskClass, own }) => resultOf(facts, plain.costTable, taskClass, own, seed)),
  );
}

const ofClass = (measured: readonly MeasuredTask[], taskClass: TaskClass | 'all') =>
  measured.filter(({ task }) => taskClass === 'all' || task.taskClass === taskClass);

function resultOf(
  { algorithm, costTable, extraMemoryBytes }: ContenderFacts,
  plainCosts: CostTable,
  taskClass: AlgorithmResult['task_class'],
  measured: readonly MeasuredTask[],
  seed: number,
): AlgorithmResult {
  const attempts = measured.map((one) => one.attempts.get(algorithm)!);
  const plain = measured.map((one) => one.attempts.get('none')!);
  const totals = totalsOf(attempts.map(({ metrics }) => metrics));
  const likenesses = measured.map(({ task }, i) => likenessOf(attempts[i], task));
  const speed = speedUp(pairs(plain, attempts), seededRandom(seed));
  return {
    algorithm,
    task_class: taskClass,
    tasks: measured.length,
    completion_tokens: totals.completionTokens,
    tokens_per_s: (1000 * totals.completionTokens) / totals.decodeMs,
    speedup: speed.value,
    speedup_ci: [speed.low, speed.high],
    mean_acceptance_length: 1 + share(totals.numAcceptedTokens, totals.numDrafts),
    acceptance_rate: share(totals.numAcceptedTokens, totals.numDraftTokens),
    num_drafts: totals.numDrafts,
    num_draft_tokens: totals.numDraftTokens,
    num_accepted_tokens: totals.numAcceptedTokens,
    accepted_per_pos: totals.acceptedPerPosition,
    acceptance_rate_per_pos: totals.acceptedPerPosition.map((count) => share(count, totals.numDrafts)),
    accepted_per_source: totals.acceptedPerSource,
    ttft_ms: percentiles(attempts.map(({ ttftMs }) => ttftMs)),
    latency_ms: percentiles(attempts.map(({ latencyMs }) => latencyMs)),
    draft_ms: totals.draftMs / totals.numSteps,
    verify_ms: totals.verifyMs / totals.numSteps,
    prefilled_tokens: totals.prefilledTokens / measured.length,
    exact_match: mean(likenesses.map(({ exactMatch }) => exactMatch)),
    edit_similarity: mean(likenesses.map(({ editSimilarity }) => editSimilarity)),
    lossless: attempts.every(({ tokens }, i) => firstDifference(tokens, plain[i].tokens) === undefined),
    extra_memory_bytes: extraMemoryBytes,
    efficiency: speed.value / possibleSpeedUp(totals, costTable, plainCosts, measured.length),
  };
}

/** How near a suggestion comes to what really stands there. */
export function likenessOf({ suggestion }: Attempt, { realText, after }: BenchmarkTask): Likeness {
  return suggestion ? likeness(suggestion, realText, after) : nothingAlike;
}

function pairs(plain: readonly Attempt[], attempts: readonly Attempt[]): Pair[] {
  return attempts.map(({ metrics }, i) => ({
    baseline: plain[i].metrics.decodeMs,
    candidate: metrics.decodeMs,
  }));
}

type Totals = ReturnType<typeof totalsOf>;

function totalsOf(metrics: readonly DecodeMetrics[]) {
  const total = (read: (one: DecodeMetrics) => number) => sum(metrics.map(read));
  return {
    promptTokens: total((one) => one.promptTokens),
    prefilledTokens: total((one) => one.prefilledTokens),
    completionTokens: total((one) => one.completionTokens),
    numSteps: total((one) => one.numSteps),
    numDrafts: total((one) => one.numDrafts),
    numDraftTokens: total((one) => one.numDraftTokens),
    numAcceptedTokens: total((one) => one.numAcceptedTokens),
    decodeMs: total((one) => one.decodeMs),
    draftMs: total((one) => one.draftMs),
    verifyMs: total((one) => one.verifyMs),
    acceptedPerPosition: addUp(metrics.map((one) => one.numAcceptedTokensPerPos)),
    acceptedPerSource: addUpSources(metrics.map((one) => one.numAcceptedTokensPerSource)),
  };
}

/** Position by position; a list that is shorter has nothing there. */
function addUp(lists: readonly (readonly number[])[]): number[] {
  const length = Math.max(...lists.map((list) => list.length));
  return Array.from({ length }, (_, position) => sum(lists.map((list) => list[position] ?? 0)));
}

function addUpSources(counts: readonly DecodeMetrics['numAcceptedTokensPerSource'][]) {
  const totals: Partial<Record<DraftSource, number>> = {};
  for (const [source, count] of counts.flatMap((one) => Object.entries(one) as [DraftSource, number][])) {
    totals[source] = (totals[source] ?? 0) + count;
  }
  return totals;
}

/** What the accepted tokens allow: tokens per step x T(1) / (T(n) + draft), of the mean step at the mean context. */
function possibleSpeedUp(totals: Totals, costs: CostTable, plainCosts: CostTable, tasks: number): number {
  const { numSteps, numAcceptedTokens, numDraftTokens, draftMs } = totals;
  const context = totals.promptTokens / tasks;
  const stepMs = passMs(costs, 1 + numDraftTokens / numSteps, context) + draftMs / numSteps;
  return ((1 + numAcceptedTokens / numSteps) * passMs(plainCosts, 1, context)) / stepMs;
}

const share = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);
