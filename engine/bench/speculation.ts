import { median, type Pair, speedUp } from '../benchmark/statistics.ts';
import type { ModelRuntime } from '../modelRuntime.ts';
import { seededRandom } from '../seededRandom.ts';
import { heldOutWorkspaces } from './benchWorkspace.ts';
import { writesInCircles } from './circles.ts';
import type { BenchContext } from './context.ts';
import type { Figure, Section, Target } from './report.ts';
import { runTasks, type TaskRun, type Writer, writers } from './runTasks.ts';
import { sampleTasks, type TaskClass, taskClasses } from './tasks.ts';

const MAX_NEW_TOKENS = 64;
const ROUNDS = 3;
const WARM_UP_TASKS = 4;

const targets: Readonly<Record<TaskClass, Target>> = {
  repeating: { atLeast: 1.3 },
  edit: { atLeast: 1.3 },
  novel: { atLeast: 0.97 },
};
const writerTitles: Readonly<Record<Writer, string>> = {
  model: 'as the model writes',
  real: 'the real text',
};

/** N-gram speculation against plain decoding, on code that repeats what the workspace holds and on code that does not. */
export async function measureSpeculation(runtime: ModelRuntime, context: BenchContext): Promise<Section> {
  const random = seededRandom(context.seed);
  const workspaces = await heldOutWorkspaces();
  const plans = workspaces.map((workspace) => ({
    workspace,
    tasks: sampleTasks(workspace, context.tasksPerClass, random),
  }));
  const options = {
    algorithms: ['ngram' as const],
    maxNewTokens: MAX_NEW_TOKENS,
    seed: context.seed,
    onProgress: () => {},
  };
  const warmUp = plans
    .slice(0, 1)
    .map(({ workspace, tasks }) => ({ workspace, tasks: tasks.slice(0, WARM_UP_TASKS) }));
  await runTasks(runtime, warmUp, { ...options, rounds: 1 });
  const runs = await runTasks(runtime, plans, {
    ...options,
    rounds: ROUNDS,
    onProgress: (done, total) => context.progress(`speculation ${done}/${total}`),
  });
  return {
    title: 'Speculation: ngram over none, 64 greedy tokens [95 % interval over tasks]',
    figures: figures(runs, context.seed),
    notes: notes(runs),
    faults: runs.filter(({ lossless }) => !lossless).map(lossText),
    details: { maxNewTokens: MAX_NEW_TOKENS, rounds: ROUNDS, runs: runs.map(runDetails) },
  };
}

function figures(runs: readonly TaskRun[], seed: number): Figure[] {
  return writers.flatMap((writer) =>
    taskClasses.flatMap((taskClass) => {
      const own = runs.filter((run) => run.writer === writer && run.task.taskClass === taskClass);
      const name = `${taskClass}, ${writerTitles[writer]}`;
      const workspaces = [...new Set(own.map(({ task }) => task.workspace))];
      return [
        { ...figure(name, own, seed), target: targets[taskClass] },
        ...workspaces.map((workspace) =>
          figure(
            `  ${workspace}`,
            own.filter(({ task }) => task.workspace === workspace),
            seed,
          ),
        ),
      ];
    }),
  );
}

function figure(name: string, runs: readonly TaskRun[], seed: number): Figure {
  return {
    name,
    unit: 'x',
    measured: speedUp(pairs(runs), seededRandom(seed)),
    remark: acceptanceText(runs),
  };
}

/** A pair a task: of its rounds the median, so that one disturbance decides nothing. */
function pairs(runs: readonly TaskRun[]): Pair[] {
  return [...groupBy(runs, ({ task }) => task).values()].map((own) => {
    const decodeMs = groupBy(own, ({ algorithm }) => (algorithm === 'none' ? 'baseline' : 'candidate'));
    const medianMs = (side: keyof Pair) => median(decodeMs.get(side)!.map(({ metrics }) => metrics.decodeMs));
    return { baseline: medianMs('baseline'), candidate: medianMs('candidate') };
  });
}

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function acceptanceText(runs: readonly TaskRun[]): string {
  const drafted = runs.filter(({ algorithm }) => algorithm !== 'none').map(({ metrics }) => metrics);
  const total = (key: 'numDrafts' | 'numDraftTokens' | 'numAcceptedTokens') =>
    drafted.reduce((sum, metrics) => sum + metrics[key], 0);
  if (total('numDrafts') === 0) return 'nothing drafted';
  const length = 1 + total('numAcceptedTokens') / total('numDrafts');
  const rate = total('numAcceptedTokens') / total('numDraftTokens');
  const fromWorkspace = drafted.reduce(
    (sum, metrics) => sum + (metrics.numAcceptedTokensPerSource.workspace ?? 0),
    0,
  );
  const share = fromWorkspace / Math.max(1, total('numAcceptedTokens'));
  return `length ${length.toFixed(2)}, rate ${percent(rate)}, ${percent(share)} from the workspace`;
}

const percent = (share: number) => `${(100 * share).toFixed(0)} %`;

function notes(runs: readonly TaskRun[]): string[] {
  const plain = runs.filter(({ writer, algorithm }) => writer === 'model' && algorithm === 'none');
  const circles = plain.filter(({ tokens }) => writesInCircles(tokens)).length / plain.length;
  return [
    'length: mean acceptance length, the bonus included; rate: accepted of drafted tokens.',
    `A small model often writes in circles (${percent(circles)} of the completions), which are easy to draft. "The real text"`,
    'decodes what really stands there instead, so that it says what drafting is worth on such code.',
  ];
}

function lossText({ task, algorithm, round }: TaskRun): string {
  return `${algorithm} wrote something else than none at ${task.workspace}/${task.path}:${task.line} (round ${round}).`;
}

function runDetails({ task, round, writer, algorithm, metrics, lossless, tokens }: TaskRun) {
  const { workspace, path, line, taskClass } = task;
  return {
    workspace,
    path,
    line,
    taskClass,
    round,
    writer,
    algorithm,
    lossless,
    circles: writesInCircles(tokens),
    metrics,
  };
}
