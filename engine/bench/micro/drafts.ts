import { DocumentIndex } from '../../benchmark/documentIndex.ts';
import { median, percentiles } from '../../benchmark/statistics.ts';
import { CostController, type DraftController } from '../../decode/controller.ts';
import { CostModel } from '../../decode/costModel.ts';
import { BlendDrafter } from '../../draft/blend.ts';
import { seededRandom } from '../../seededRandom.ts';
import type { BenchWorkspace } from '../benchWorkspace.ts';
import { realTextVerifier } from '../realTextVerifier.ts';
import type { Figure } from '../report.ts';
import { taskPrompt, taskTruth } from '../taskPrompt.ts';
import { type BenchTask, sampleTasks } from '../tasks.ts';
import type { MicroBench, Subject } from './microBench.ts';
import { type DraftTime, StopwatchDrafter, StopwatchIndex } from './stopwatchDrafter.ts';
import { microseconds, OTHER_WORK_MS, shareText } from './timing.ts';

const TASKS_PER_CLASS = 4;
const MAX_NEW_TOKENS = 64;
/** As the keystroke before would: the prompt has its rows, and the drafter knows it. */
const WARM_UP_TOKENS = 2;
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
  const { runtime, otherWork, seed } = bench;
  const workspace = largest(bench.workspaces);
  const index = indexOf(bench, workspace);
  const watchedIndex = new StopwatchIndex(index.ngrams);
  const costs = new CostModel(runtime.costTable);
  const ngram = {
    vocabSize: runtime.model.info.vocabSize,
    specialTokenIds: runtime.tokenizer.specialTokenIds,
    workspace: watchedIndex,
  };
  const drafter = new StopwatchDrafter(new BlendDrafter({ ngram, costs }));
  const strategy = { drafter, controller: new CostController(costs) };
  const warm: DraftTime[] = [];
  const cold: DraftTime[] = [];
  for (const task of sampleTasks(workspace, TASKS_PER_CLASS, seededRandom(seed))) {
    index.holdOut(task.path, task.before + task.after);
    await decode(bench, strategy, task, WARM_UP_TOKENS);
    for (const [drafts, pauseMs] of [
      [warm, 0],
      [cold, OTHER_WORK_MS],
    ] as const) {
      otherWork.run(pauseMs);
      drafter.drafts.length = 0;
      await decode(bench, strategy, task, MAX_NEW_TOKENS);
      drafts.push(...drafter.drafts);
    }
    index.restore(task.path);
  }
  const { lookupMs } = watchedIndex;
  return { warm, cold, lookupMs, observeMs: drafter.observeMs, indexTokens: index.ngrams.tokenCount };
}

function largest(workspaces: readonly BenchWorkspace[]): BenchWorkspace {
  const size = ({ documents }: BenchWorkspace) => documents.reduce((sum, { text }) => sum + text.length, 0);
  return workspaces.reduce((best, workspace) => (size(workspace) > size(best) ? workspace : best));
}

function indexOf({ runtime }: MicroBench, { documents }: BenchWorkspace): DocumentIndex {
  const index = new DocumentIndex(runtime.tokenizer, runtime.model.info.vocabSize);
  for (const { path, text } of documents) index.add(path, text);
  return index;
}

/** What is drafted depends on what is written: the real text, as after a model that writes it. */
function decode(
  { runtime }: MicroBench,
  strategy: { readonly drafter: StopwatchDrafter; readonly controller: DraftController },
  task: BenchTask,
  maxNewTokens: number,
) {
  const truth = taskTruth(runtime, task, MAX_NEW_TOKENS);
  return runtime.decode(
    { ...strategy, verifier: realTextVerifier(truth) },
    {
      prompt: taskPrompt(runtime, task, MAX_NEW_TOKENS),
      maxNewTokens: Math.min(maxNewTokens, truth.length),
      endTokens: new Set(),
      onToken: () => 'continue',
      signal: new AbortController().signal,
    },
  );
}
