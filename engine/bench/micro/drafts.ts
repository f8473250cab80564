import { DocumentIndex } from '../../benchmark/documentIndex.ts';
import { median, percentiles } from '../../benchmark/statistics.ts';
import { CostModel } from '../../cost/costModel.ts';
import { CostController } from '../../decode/controller.ts';
import { BlendDrafter } from '../../draft/blend.ts';
import { seededRandom } from '../../seededRandom.ts';
import type { BenchWorkspace } from '../benchWorkspace.ts';
import { WARM_UP_TOKENS } from '../contestants.ts';
import { realTextVerifier } from '../realTextVerifier.ts';
import type { Figure } from '../report.ts';
import { taskPrompt, taskTruth } from '../taskPrompt.ts';
import { type BenchTask, sampleTasks } from '../tasks.ts';
import type { MicroBench, Subject } from './microBench.ts';
import { type DraftTime, StopwatchDrafter, StopwatchIndex } from './stopwatchDrafter.ts';
import { microseconds, OTHER_WORK_MS, shareText } from './timing.ts';

const TASKS_PER_CLASS = 6;
/** Until the code that they run is compiled. */
const WARM_UP_TASKS = 4;
const MAX_NEW_TOKENS = 64;
/** As `index` has it: the lookup is a small part of a step on any machine. */
const LOOKUP_LIMIT_US = 100;

interface DraftTimes {
  readonly warm: readonly DraftTime[];
  readonly cold: readonly DraftTime[];
  readonly lookupMs: readonly number[];
  readonly observeMs: readonly number[];
  readonly indexTokens: number;
}

/** The free sources of the blend, at work: in real decoding, over real documents and their workspace. */
export async function measureDrafts(bench: MicroBench, onePassMs: number): Promise<Subject> {
  const times = await draftTimes(bench);
  return { figures: draftFigures(times, onePassMs), faults: [], details: times };
}

/** @param times at least one first draft and one later one, warm and cold */
export function draftFigures(
  { warm, cold, lookupMs, observeMs, indexTokens }: DraftTimes,
  onePassMs: number,
): Figure[] {
  const later = [...warm, ...cold].filter(({ isFirst }) => !isFirst);
  const proposed = percentiles(later.map(({ proposeMs }) => proposeMs));
  const nodes = median(later.map((draft) => draft.nodes));
  const firstMs = (drafts: readonly DraftTime[]) =>
    median(drafts.filter(({ isFirst }) => isFirst).map(({ proposeMs }) => proposeMs));
  const lookup = percentiles(lookupMs);
  const learned = median([...observeMs]);
  return [
    {
      name: 'propose a tree, p50',
      unit: 'us',
      measured: microseconds(proposed.p50),
      remark: `${nodes} nodes; p99 ${microseconds(proposed.p99).toFixed(0)} us; ${shareText(proposed.p50, onePassMs)}`,
    },
    {
      name: 'first tree of a suggestion, p50',
      unit: 'us',
      measured: microseconds(firstMs(cold)),
      baseline: { name: 'no other work before', measured: microseconds(firstMs(warm)) },
      remark: shareText(firstMs(cold), onePassMs),
    },
    {
      name: 'workspace lookup in it, p99',
      unit: 'us',
      measured: microseconds(lookup.p99),
      remark: `p50 ${microseconds(lookup.p50).toFixed(1)} us; ${(indexTokens / 1000).toFixed(0)}k tokens`,
      target: { atMost: LOOKUP_LIMIT_US },
    },
    {
      name: 'learn from a pass, p50',
      unit: 'us',
      measured: microseconds(learned),
      remark: shareText(learned, onePassMs),
    },
  ];
}

async function draftTimes(bench: MicroBench): Promise<DraftTimes> {
  const workspace = largest(bench.workspaces);
  const decoding = new WatchedDecoding(bench, workspace);
  const tasks = sampleTasks(workspace, TASKS_PER_CLASS, seededRandom(bench.seed));
  for (const task of tasks.slice(0, WARM_UP_TASKS)) await decoding.decodeTwice(task, 'warmFirst');
  decoding.forget();
  for (const [i, task] of tasks.slice(WARM_UP_TASKS).entries()) {
    await decoding.decodeTwice(task, i % 2 === 0 ? 'warmFirst' : 'coldFirst');
  }
  return decoding.times;
}

function largest(workspaces: readonly BenchWorkspace[]): BenchWorkspace {
  const size = ({ documents }: BenchWorkspace) => documents.reduce((sum, { text }) => sum + text.length, 0);
  return workspaces.reduce((best, workspace) => (size(workspace) > size(best) ? workspace : best));
}

/** Decodes tasks of one workspace with the free sources of the blend, each part of which is timed. */
class WatchedDecoding {
  readonly #bench: MicroBench;
  readonly #index: DocumentIndex;
  readonly #ngrams: StopwatchIndex;
  readonly #drafter: StopwatchDrafter;
  readonly #controller: CostController;
  readonly #warm: DraftTime[] = [];
  readonly #cold: DraftTime[] = [];

  constructor(bench: MicroBench, { documents }: BenchWorkspace) {
    const { model, tokenizer, costTable } = bench.runtime;
    const { vocabSize } = model.info;
    this.#bench = bench;
    this.#index = new DocumentIndex(tokenizer, vocabSize);
    for (const { path, text } of documents) this.#index.add(path, text);
    this.#ngrams = new StopwatchIndex(this.#index.ngrams);
    const costs = new CostModel(costTable);
    const ngram = { vocabSize, specialTokenIds: tokenizer.specialTokenIds, workspace: this.#ngrams };
    this.#drafter = new StopwatchDrafter(new BlendDrafter({ ngram, costs }));
    this.#controller = new CostController(costs);
  }

  /** Since the last `forget`. */
  get times(): DraftTimes {
    return {
      warm: this.#warm,
      cold: this.#cold,
      lookupMs: this.#ngrams.lookupMs,
      observeMs: this.#drafter.observeMs,
      indexTokens: this.#index.ngrams.tokenCount,
    };
  }

  forget(): void {
    for (const times of [this.#warm, this.#cold]) times.length = 0;
    for (const times of [this.#ngrams.lookupMs, this.#drafter.observeMs]) times.length = 0;
  }

  /** With and without other work before. The second time more is known of the text, so that more is drafted. */
  async decodeTwice(task: BenchTask, order: 'warmFirst' | 'coldFirst'): Promise<void> {
    this.#index.holdOut(task.path, task.before + task.after);
    await this.#decode(task, WARM_UP_TOKENS);
    if (order === 'coldFirst') this.#cold.push(...(await this.#draftsAfterOtherWork(task)));
    this.#warm.push(...(await this.#drafts(task)));
    if (order === 'warmFirst') this.#cold.push(...(await this.#draftsAfterOtherWork(task)));
    this.#index.restore(task.path);
  }

  #draftsAfterOtherWork(task: BenchTask): Promise<DraftTime[]> {
    this.#bench.otherWork.run(OTHER_WORK_MS);
    return this.#drafts(task);
  }

  async #drafts(task: BenchTask): Promise<DraftTime[]> {
    this.#drafter.drafts.length = 0;
    await this.#decode(task, MAX_NEW_TOKENS);
    return [...this.#drafter.drafts];
  }

  /** What is drafted depends on what is written: the real text, as after a model that writes it. */
  #decode(task: BenchTask, maxNewTokens: number) {
    const { runtime } = this.#bench;
    const truth = taskTruth(runtime, task, MAX_NEW_TOKENS);
    return runtime.decode(
      { drafter: this.#drafter, controller: this.#controller, verifier: realTextVerifier(truth) },
      {
        prompt: taskPrompt(runtime, task, MAX_NEW_TOKENS),
        maxNewTokens: Math.min(maxNewTokens, truth.length),
        endTokens: new Set(),
        onToken: () => 'continue',
        signal: new AbortController().signal,
      },
    );
  }
}
