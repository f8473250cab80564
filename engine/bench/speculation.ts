import { planContenders } from '../benchmark/contenders.ts';
import { mean, type Pair, speedUp } from '../benchmark/statistics.ts';
import { Targets } from '../benchmark/targets.ts';
import { mostThreads } from '../config.ts';
import type { Algorithm } from '../protocol.ts';
import { seededRandom } from '../seededRandom.ts';
import { heldOutWorkspaces } from './benchWorkspace.ts';
import { writesInCircles } from './circles.ts';
import type { BenchContext } from './context.ts';
import type { Figure, Section } from './report.ts';
import { runTasks, type TaskRun, type Writer, writers } from './runTasks.ts';
import { sampleTasks, type TaskClass, taskClasses } from './tasks.ts';

const MAX_NEW_TOKENS = 64;
const ROUNDS = 2;
const WARM_UP_TASKS = 4;

/** Speed-ups to reach over all tasks, and on repetitive edits. */
const speedTargets: Readonly<Partial<Record<Algorithm, { readonly all: number; readonly edit?: number }>>> = {
  ngram: { all: 1.2, edit: 3 },
  recycle: { all: 1.3 },
  medusa: { all: 1.4 },
  standalone: { all: 1.2 },
  eagle2: { all: 1.4 },
  eagle3: { all: 1.6 },
  auto: { all: 2, edit: 4 },
};
/** What the blend may lose where drafting does not help. */
const NO_LOSS = 0.97;
/** Share of the speed-up that acceptance and the passes' times allow. */
const EFFICIENCY = 0.92;

const writerTitles: Readonly<Record<Writer, string>> = {
  model: 'as the model writes',
  real: 'the real text',
};

/** Every algorithm that the model can run against plain decoding, on code that repeats what the workspace holds and on code that does not. */
export async function measureSpeculation(context: BenchContext): Promise<Section> {
  const { modelDir, cacheDir, seed, tasksPerClass } = context;
  const targets = new Targets(modelDir, { device: 'cpu', cacheDir, threads: mostThreads, log: () => {} });
  try {
    const random = seededRandom(seed);
    const taskPlans = (await heldOutWorkspaces()).map((workspace) => ({
      workspace,
      tasks: sampleTasks(workspace, tasksPerClass, random),
    }));
    const warmUp = taskPlans
      .slice(0, 1)
      .map(({ workspace, tasks }) => ({ workspace, tasks: tasks.slice(0, WARM_UP_TASKS) }));
    const { plans } = await planContenders(modelDir, { speculation: {} });
    const bench = { plans, targets, cacheDir };
    const options = { maxNewTokens: MAX_NEW_TOKENS, seed };
    await runTasks(bench, warmUp, { ...options, rounds: 1, onProgress: () => {} });
    const runs = await runTasks(bench, taskPlans, {
      ...options,
      rounds: ROUNDS,
      onProgress: (done, total) => context.progress(`speculation ${done}/${total}`),
    });
    return {
      title: 'Speculation: each algorithm over none, 64 greedy tokens [95 % interval over tasks]',
      figures: figures(runs, seed),
      notes: notes(runs),
      faults: runs.filter(({ lossless }) => !lossless).map(lossText),
      details: { maxNewTokens: MAX_NEW_TOKENS, rounds: ROUNDS, runs: runs.map(runDetails) },
    };
  } finally {
    await targets.dispose();
  }
}

function figures(runs: readonly TaskRun[], seed: number): Figure[] {
  const algorithms = [...new Set(runs.map(({ algorithm }) => algorithm))].filter((name) => name !== 'none');
  const written = runs.filter(({ writer }) => writer === 'model');
  return algorithms.flatMap((algorithm) => [
    ...overallFigures(algorithm, of(algorithm, written), seed),
    ...writers.flatMap((writer) =>
      taskClasses.map((taskClass) => {
        const own = runs.filter((run) => run.writer === writer && run.task.taskClass === taskClass);
        const name = `  ${taskClass}, ${writerTitles[writer]}`;
        return withTarget(figure(name, of(algorithm, own), seed), classTarget(algorithm, taskClass, writer));
      }),
    ),
  ]);
}

/** Of an algorithm, and of plain decoding beside it. */
function of(algorithm: Algorithm, runs: readonly TaskRun[]): TaskRun[] {
  return runs.filter((run) => run.algorithm === algorithm || run.algorithm === 'none');
}

function overallFigures(algorithm: Algorithm, runs: readonly TaskRun[], seed: number): Figure[] {
  return [
    withTarget(figure(algorithm.toUpperCase(), runs, seed), speedTargets[algorithm]?.all),
    {
      name: '  of what acceptance and passes allow',
      unit: '',
      measured: efficiency(runs),
      target: { atLeast: EFFICIENCY },
      remark: timesText(runs),
    },
  ];
}

function classTarget(algorithm: Algorithm, taskClass: TaskClass, writer: Writer): number | undefined {
  if (taskClass === 'edit' && writer === 'model') return speedTargets[algorithm]?.edit;
  return algorithm === 'auto' ? NO_LOSS : undefined;
}

function withTarget(measured: Figure, atLeast: number | undefined): Figure {
  return atLeast === undefined ? measured : { ...measured, target: { atLeast } };
}

/**
 * The speed-up over what it would be if nothing but drafting and the passes took time: tokens a step x T(1) / (T(n) + draft),
 * T as measured in this run.
 */
function efficiency(runs: readonly TaskRun[]): number {
  const overhead = (own: readonly TaskRun[]) =>
    total(own, 'decodeMs') / (total(own, 'verifyMs') + total(own, 'draftMs'));
  const [plain, drafted] = split(runs);
  return overhead(plain) / overhead(drafted);
}

function timesText(runs: readonly TaskRun[]): string {
  const [plain, drafted] = split(runs);
  const perStep = (own: readonly TaskRun[], key: 'verifyMs' | 'draftMs') =>
    (total(own, key) / total(own, 'numSteps')).toFixed(2);
  return `a step: ${perStep(drafted, 'verifyMs')} ms verifying, ${perStep(drafted, 'draftMs')} drafting; plain ${perStep(plain, 'verifyMs')}`;
}

function split(runs: readonly TaskRun[]): [plain: TaskRun[], drafted: TaskRun[]] {
  return [
    runs.filter(({ algorithm }) => algorithm === 'none'),
    runs.filter(({ algorithm }) => algorithm !== 'none'),
  ];
}

type Summable =
  | 'decodeMs'
  | 'verifyMs'
  | 'draftMs'
  | 'numSteps'
  | 'numDrafts'
  | 'numDraftTokens'
  | 'numAcceptedTokens';

function total(runs: readonly TaskRun[], key: Summable): number {
  return runs.reduce((sum, { metrics }) => sum + metrics[key], 0);
}

function figure(name: string, runs: readonly TaskRun[], seed: number): Figure {
  return {
    name,
    unit: 'x',
    measured: speedUp(pairs(runs), seededRandom(seed)),
    remark: acceptanceText(split(runs)[1]),
  };
}

/** A pair a task, of all its rounds: a task whose rounds differ counts once. */
function pairs(runs: readonly TaskRun[]): Pair[] {
  return [...groupBy(runs, ({ task }) => task).values()].map((own) => {
    const decodeMs = groupBy(own, ({ algorithm }) => (algorithm === 'none' ? 'baseline' : 'candidate'));
    const meanMs = (side: keyof Pair) => mean(decodeMs.get(side)!.map(({ metrics }) => metrics.decodeMs));
    return { baseline: meanMs('baseline'), candidate: meanMs('candidate') };
  });
}

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function acceptanceText(runs: readonly TaskRun[]): string {
  const drafts = total(runs, 'numDrafts');
  if (drafts === 0) return 'nothing drafted';
  const length = 1 + total(runs, 'numAcceptedTokens') / drafts;
  const rate = total(runs, 'numAcceptedTokens') / total(runs, 'numDraftTokens');
  const positions = [0, 1, 2, 3].map((position) => {
    const accepted = runs.reduce(
      (sum, { metrics }) => sum + (metrics.numAcceptedTokensPerPos[position] ?? 0),
      0,
    );
    return percent(accepted / drafts);
  });
  return `length ${length.toFixed(2)}, rate ${percent(rate)}, by position ${positions.join(' ')}`;
}

const percent = (share: number) => `${(100 * share).toFixed(0)}%`;

function notes(runs: readonly TaskRun[]): string[] {
  const plain = runs.filter(({ writer, algorithm }) => writer === 'model' && algorithm === 'none');
  const circles = plain.filter(({ tokens }) => writesInCircles(tokens)).length / plain.length;
  return [
    'length: mean acceptance length, the bonus included; rate: accepted of drafted tokens; by position: of drafts, how many',
    'had so many tokens accepted.',
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
