import { shuffle } from 'simple-statistics';
import { firstDifference } from '../benchmark/firstDifference.ts';
import { inTurn } from '../benchmark/inTurn.ts';
import type { DecodeResult } from '../decode/decoder.ts';
import type { DecodeMetrics } from '../metrics.ts';
import type { Algorithm } from '../protocol.ts';
import { seededRandom } from '../seededRandom.ts';
import { greedyVerifier } from '../verify/greedy.ts';
import type { BenchWorkspace } from './benchWorkspace.ts';
import {
  type Contestant,
  openContestants,
  type SpeculationBench,
  WARM_UP_TOKENS,
  type WorkspaceContestants,
} from './contestants.ts';
import { realTextVerifier } from './realTextVerifier.ts';
import { taskPrompt, taskTruth } from './taskPrompt.ts';
import { type BenchTask, oneKeystrokeBefore } from './tasks.ts';

/** Whose text is decoded: what the model writes, or what really stands there (see realTextVerifier). */
export const writers = ['model', 'real'] as const;
export type Writer = (typeof writers)[number];

export interface TaskPlan {
  readonly workspace: BenchWorkspace;
  readonly tasks: readonly BenchTask[];
}

export interface RunOptions {
  readonly maxNewTokens: number;
  /** How often the whole is repeated; each time in another order and with drafters that have learned nothing yet. */
  readonly rounds: number;
  readonly seed: number;
  readonly onProgress: (done: number, total: number) => void;
}

/** One completion of one task. */
export interface TaskRun {
  readonly task: BenchTask;
  readonly round: number;
  readonly writer: Writer;
  readonly algorithm: Algorithm;
  readonly tokens: readonly number[];
  readonly metrics: DecodeMetrics;
  /** Same tokens as `none` in the same round. */
  readonly lossless: boolean;
}

/**
 * Completes every task with every algorithm, one right after the other, so that what disturbs the machine disturbs
 * all of them. The prompt is prefilled before, so that each finds the same KV rows.
 */
export async function runTasks(
  bench: SpeculationBench,
  taskPlans: readonly TaskPlan[],
  options: RunOptions,
): Promise<TaskRun[]> {
  const runs: TaskRun[] = [];
  const total = options.rounds * writers.length * taskPlans.reduce((sum, { tasks }) => sum + tasks.length, 0);
  let done = 0;
  for (let round = 0; round < options.rounds; round++) {
    for (const { workspace, tasks } of taskPlans) {
      const benches: WorkspaceBench[] = [];
      for (const writer of writers)
        benches.push(await WorkspaceBench.open(bench, workspace, writer, options));
      for (const task of shuffle([...tasks], seededRandom(options.seed + round))) {
        for (const open of benches) {
          runs.push(...(await open.run(task, round)));
          options.onProgress(++done, total);
        }
      }
      for (const open of benches) await open.dispose();
    }
  }
  return runs;
}

/** The algorithms over one workspace: they learn from task to task, as they do from keystroke to keystroke. */
class WorkspaceBench {
  readonly #writer: Writer;
  readonly #options: RunOptions;
  readonly #opened: WorkspaceContestants;
  #turn = 0;

  private constructor(opened: WorkspaceContestants, writer: Writer, options: RunOptions) {
    this.#opened = opened;
    this.#writer = writer;
    this.#options = options;
  }

  static async open(
    bench: SpeculationBench,
    workspace: BenchWorkspace,
    writer: Writer,
    options: RunOptions,
  ): Promise<WorkspaceBench> {
    return new WorkspaceBench(await openContestants(bench, workspace), writer, options);
  }

  dispose(): Promise<void> {
    return this.#opened.dispose();
  }

  async run(task: BenchTask, round: number): Promise<TaskRun[]> {
    const { index, contestants } = this.#opened;
    index.holdOut(task.path, task.before + task.after);
    const results = new Map<Algorithm, DecodeResult>();
    for (const contestant of inTurn(contestants, this.#turn++)) {
      await this.#decode(contestant, oneKeystrokeBefore(task), WARM_UP_TOKENS);
      results.set(contestant.algorithm, await this.#decode(contestant, task, this.#options.maxNewTokens));
    }
    index.restore(task.path);
    const plain = results.get('none')!.tokens;
    return [...results].map(([algorithm, { tokens, metrics }]) => {
      const lossless = firstDifference(tokens, plain) === undefined;
      return { task, round, writer: this.#writer, algorithm, tokens, metrics, lossless };
    });
  }

  #decode(
    { runtime, speculation }: Contestant,
    task: BenchTask,
    maxNewTokens: number,
  ): Promise<DecodeResult> {
    const { model, tokenizer } = runtime;
    const truth = taskTruth(runtime, task, this.#options.maxNewTokens);
    const real = this.#writer === 'real';
    return runtime.decode(
      { ...speculation, verifier: real ? realTextVerifier(truth) : greedyVerifier },
      {
        prompt: taskPrompt(runtime, task, this.#options.maxNewTokens),
        maxNewTokens: real ? Math.min(maxNewTokens, truth.length) : maxNewTokens,
        endTokens: real ? new Set() : new Set([...tokenizer.specialTokenIds, ...model.info.eosTokenIds]),
        onToken: () => 'continue',
        signal: new AbortController().signal,
      },
    );
  }
}
