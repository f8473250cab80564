/** Measured tasks with times and counts of a test's choice. */
import type { Attempt } from '../../../engine/benchmark/contender.ts';
import type { MeasuredTask } from '../../../engine/benchmark/measure.ts';
import type { BenchmarkTask } from '../../../engine/benchmark/tasks/task.ts';
import type { DecodeMetrics } from '../../../engine/metrics.ts';
import type { Algorithm } from '../../../engine/protocol.ts';

export function task(overrides: Partial<BenchmarkTask> = {}): BenchmarkTask {
  return {
    taskClass: 'end_of_line',
    document: { uri: 'file:///w/a.ts', path: 'a.ts', text: '' },
    before: 'one\ntwo(',
    realText: 'x + 1',
    after: ');\n',
    ...overrides,
  };
}

export interface AttemptSketch {
  readonly tokens?: readonly number[];
  readonly suggestion?: Attempt['suggestion'];
  readonly latencyMs?: number;
  readonly metrics?: Partial<DecodeMetrics>;
  readonly steps?: Attempt['steps'];
}

export function attempt(algorithm: Algorithm, sketch: AttemptSketch = {}): Attempt {
  const { tokens = [1, 2, 3], suggestion, latencyMs = 50, steps = [] } = sketch;
  return {
    algorithm,
    tokens,
    suggestion,
    steps,
    ttftMs: latencyMs / 10,
    latencyMs,
    metrics: {
      promptTokens: 128,
      prefilledTokens: 2,
      completionTokens: tokens.length,
      numSteps: tokens.length,
      numDrafts: 0,
      numDraftTokens: 0,
      numAcceptedTokens: 0,
      numAcceptedTokensPerPos: [],
      numAcceptedTokensPerSource: {},
      prefillMs: 0,
      ttftMs: 5,
      decodeMs: 40,
      draftMs: 0,
      verifyMs: 30,
      ...sketch.metrics,
    },
  };
}

export function measuredTask(one: BenchmarkTask, ...attempts: readonly Attempt[]): MeasuredTask {
  return { task: one, attempts: new Map(attempts.map((each) => [each.algorithm, each])) };
}
