import { shuffle } from 'simple-statistics';
import { DocumentIndex } from '../benchmark/documentIndex.ts';
import { firstDifference } from '../benchmark/firstDifference.ts';
import type { DecodeResult, DecodeStrategy } from '../decode/decoder.ts';
import { createController, createDrafter } from '../draft/createDrafter.ts';
import type { DecodeMetrics } from '../metrics.ts';
import type { ModelRuntime } from '../modelRuntime.ts';
import type { Algorithm } from '../protocol.ts';
import { seededRandom } from '../seededRandom.ts';
import { greedyVerifier } from '../verify/greedy.ts';
import type { BenchWorkspace } from './benchWorkspace.ts';
import { realTextVerifier } from './realTextVerifier.ts';
import { taskPrompt, taskTruth } from './taskPrompt.ts';
import type { BenchTask } from './tasks.ts';

/** Whose text is decoded: what the model writes, or what really stands there (see realTextVerifier). */
export const writers = ['model', 'real'] as const;
export type Writer = (typeof writers)[number];

export interface TaskPlan {
  readonly workspace: BenchWorkspace;
  readonly tasks: readonly BenchTask[];
}

export interface RunOptions {
  /** Each is compared with `none`, which always runs. */
  readonly algorithms: readonly Algorithm[];
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
  runtime: ModelRuntime,
  plans: readonly TaskPlan[],
  options: RunOptions,
): Promise<TaskRun[]> {
  const runs: TaskRun[] = [];
  const total = options.rounds * writers.length * plans.reduce((sum, { tasks }) => sum + tasks.length, 0);
  let done = 0;
  for (let round = 0; round < options.rounds; round++) {
    for (const { workspace, tasks } of plans) {
      const benches = writers.map((writer) => new WorkspaceBench(runtime, workspace, writer, options));
      for (const task of shuffle([...tasks], seededRandom(options.seed + round))) {
        for (const bench of benches) {
          runs.push(...(await bench.run(task, round)));
          options.onProgress(++done, total);
        }
      }
    }
  }
  return runs;
}

type Drafting = Omit<DecodeStrategy, 'verifier'>;

/** The algorithms over one workspace: they learn from task to task, as they do from keystroke to keystroke. */
class WorkspaceBench {
  readonly #runtime: ModelRuntime;
  readonly #writer: Writer;
  readonly #index: DocumentIndex;
  readonly #options: RunOptions;
  readonly #strategies: readonly { algorithm: Algorithm; strategy: Drafting }[];
  #turn = 0;

  constructor(runtime: ModelRuntime, workspace: BenchWorkspace, writer: Writer, options: RunOptions) {
    this.#runtime = runtime;
    this.#writer = writer;
    this.#options = options;
    this.#index = new DocumentIndex(runtime.tokenizer, runtime.model.info.vocabSize);
    for (const { path, text } of workspace.documents) this.#index.add(path, text);
    const algorithms = ['none' as const, ...options.algorithms.filter((algorithm) => algorithm !== 'none')];
    this.#strategies = algorithms.map((algorithm) => ({ algorithm, strategy: this.#strategy(algorithm) }));
  }

  async run(task: BenchTask, round: number): Promise<TaskRun[]> {
    this.#index.holdOut(task.path, task.before + task.after);
    await this.#decode(this.#strategies[0].strategy, task, 1);
    const results = new Map<Algorithm, DecodeResult>();
    for (const { algorithm, strategy } of this.#inTurn()) {
      results.set(algorithm, await this.#decode(strategy, task, this.#options.maxNewTokens));
    }
    this.#index.restore(task.path);
    const plain = results.get('none')!.tokens;
    return [...results].map(([algorithm, { tokens, metrics }]) => {
      const lossless = firstDifference(tokens, plain) === undefined;
      return { task, round, writer: this.#writer, algorithm, tokens, metrics, lossless };
    });
  }

  /** Another one begins each time: the first one after a prefill finds other caches than the second. */
  #inTurn() {
    const first = this.#turn++ % this.#strategies.length;
    return [...this.#strategies.slice(first), ...this.#strategies.slice(0, first)];
  }

  #strategy(algorithm: Algorithm): Drafting {
    const { model, tokenizer, costTable } = this.#runtime;
    const parts = {
      vocabSize: model.info.vocabSize,
      specialTokenIds: tokenizer.specialTokenIds,
      workspace: this.#index.ngrams,
    };
    return {
      drafter: createDrafter({ algorithm }, parts),
      controller: createController({ algorithm }, costTable),
    };
  }

  #decode(strategy: Drafting, task: BenchTask, maxNewTokens: number): Promise<DecodeResult> {
    const { model, tokenizer } = this.#runtime;
    const truth = taskTruth(this.#runtime, task, this.#options.maxNewTokens);
    const real = this.#writer === 'real';
    return this.#runtime.decode(
      { ...strategy, verifier: real ? realTextVerifier(truth) : greedyVerifier },
      {
        prompt: taskPrompt(this.#runtime, task, this.#options.maxNewTokens),
        maxNewTokens: real ? Math.min(maxNewTokens, truth.length) : maxNewTokens,
        endTokens: real ? new Set() : new Set([...tokenizer.specialTokenIds, ...model.info.eosTokenIds]),
        onToken: () => 'continue',
        signal: new AbortController().signal,
      },
    );
  }
}
