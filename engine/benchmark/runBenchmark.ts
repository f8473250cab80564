import { setImmediate } from 'node:timers/promises';
import { mostThreads } from '../config.ts';
import { SlipstreamError } from '../errors.ts';
import { describeMachine } from '../machine.ts';
import type { OpenModelOptions } from '../model/openModel.ts';
import type { ModelRuntime } from '../modelRuntime.ts';
import { seededRandom } from '../seededRandom.ts';
import type { IndexedFolder } from '../workspace/folderScopes.ts';
import type { BenchmarkProgress, BenchmarkReport } from './benchmarkReport.ts';
import type { Contender } from './contender.ts';
import { type ContenderOptions, openContender, planContenders } from './contenders.ts';
import { createReport } from './createReport.ts';
import { type Material, readFolder, readSample, readWorkspace } from './material.ts';
import { type MeasuredTask, measure } from './measure.ts';
import { Targets } from './targets.ts';
import { sampleTasks } from './tasks/sampleTasks.ts';
import type { BenchmarkTask } from './tasks/task.ts';
import { TaskWorkspace } from './taskWorkspace.ts';

export interface BenchmarkOptions
  extends ContenderOptions,
    Pick<OpenModelOptions, 'device' | 'cacheDir' | 'log'> {
  /** The sample stands in for a workspace without code, but not for a folder that somebody named. */
  readonly source:
    | { readonly kind: 'folder'; readonly path: string }
    | { readonly kind: 'workspace'; readonly folders: readonly IndexedFolder[] };
  readonly modelDir: string;
  readonly tasks: number;
  /** Chooses the tasks. */
  readonly seed: number;
  readonly onProgress: (progress: BenchmarkProgress) => void;
  readonly signal: AbortSignal;
}

/** Not measured: after them code is compiled, caches are warm and the controllers know this machine. */
const WARM_UP_TASKS = 3;

/**
 * Completes real places with each algorithm, and reports how fast that was and whether all wrote the same.
 *
 * @returns what was measured when it was cancelled; undefined when that is nothing
 * @throws SlipstreamError usage when there is nothing to complete or an algorithm cannot run, and what opening a model
 *   throws
 */
export async function runBenchmark(options: BenchmarkOptions): Promise<BenchmarkReport | undefined> {
  try {
    return await run(options);
  } catch (error) {
    if (options.signal.aborted && error === options.signal.reason) return undefined;
    throw error;
  }
}

async function run(options: BenchmarkOptions): Promise<BenchmarkReport | undefined> {
  const { modelDir, device, cacheDir, log, signal, onProgress } = options;
  const machine = describeMachine();
  onProgress(preparing('Choosing places to complete'));
  const { material, tasks, warmUp } = await chooseTasks(options);
  onProgress(preparing('Loading the model'));
  const targets = new Targets(modelDir, { device, cacheDir, log, threads: mostThreads });
  const contenders: Contender[] = [];
  try {
    const { plans, notes } = await planContenders(modelDir, options);
    const runtime = await targets.load(plans[0]);
    checkLength(options, runtime);
    onProgress(preparing('Indexing the files'));
    const workspace = await readInto(runtime, material, signal);
    onProgress(preparing('Loading what drafts'));
    for (const plan of plans) {
      signal.throwIfAborted();
      contenders.push(await openContender(plan, targets, workspace, options));
    }
    await measureWithProgress('warmingUp', contenders, warmUp, workspace, options);
    const measured = await measureWithProgress('measuring', contenders, tasks, workspace, options);
    if (measured.length === 0) return undefined;
    return createReport({
      options,
      machine,
      material,
      workspace,
      runtime,
      contenders,
      planNotes: notes,
      tasks,
      measured,
    });
  } finally {
    for (const contender of contenders) await contender.dispose();
    await targets.dispose();
  }
}

const preparing = (detail: string): BenchmarkProgress => ({ phase: 'preparing', done: 0, total: 0, detail });

interface ChosenTasks {
  readonly material: Material;
  readonly tasks: readonly BenchmarkTask[];
  /** Other places: a drafter that learns would know these. */
  readonly warmUp: readonly BenchmarkTask[];
}

async function chooseTasks(options: BenchmarkOptions): Promise<ChosenTasks> {
  const { source, signal, seed } = options;
  if (source.kind === 'folder') {
    const chosen = await chooseFrom(await readFolder(source.path, seededRandom(seed), signal), options);
    if (chosen.tasks.length > 0) return chosen;
    throw new SlipstreamError('usage', `${source.path}: there is no code here with a place to complete`);
  }
  const chosen = await chooseFrom(await readWorkspace(source.folders, seededRandom(seed), signal), options);
  if (chosen.tasks.length > 0) return chosen;
  return chooseFrom(await readSample(seededRandom(seed), signal), options);
}

async function chooseFrom(
  material: Material,
  { tasks, seed, signal }: BenchmarkOptions,
): Promise<ChosenTasks> {
  const count = tasks + WARM_UP_TASKS;
  const chosen = await sampleTasks(material.documents, count, seededRandom(seed), signal);
  return { material, tasks: chosen.slice(0, tasks), warmUp: chosen.slice(tasks) };
}

function checkLength({ maxNewTokens }: BenchmarkOptions, { model }: ModelRuntime): void {
  const { contextLength } = model.info;
  if (maxNewTokens <= contextLength / 2) return;
  throw new SlipstreamError(
    'usage',
    `${maxNewTokens} new tokens leave too little of the model's context of ${contextLength} to the prompt; ask for at most ${Math.floor(contextLength / 2)}`,
  );
}

async function readInto(
  { tokenizer, model }: ModelRuntime,
  { documents }: Material,
  signal: AbortSignal,
): Promise<TaskWorkspace> {
  const workspace = new TaskWorkspace(tokenizer, model.info.vocabSize);
  for (const document of documents) {
    workspace.add(document);
    // So that a cancel is heard.
    await setImmediate();
    signal.throwIfAborted();
  }
  return workspace;
}

function measureWithProgress(
  phase: 'warmingUp' | 'measuring',
  contenders: readonly Contender[],
  tasks: readonly BenchmarkTask[],
  workspace: TaskWorkspace,
  { signal, onProgress }: BenchmarkOptions,
): Promise<MeasuredTask[]> {
  const total = tasks.length * contenders.length;
  const detail = phase === 'measuring' ? 'Measuring' : 'Warming up';
  const started = performance.now();
  let done = 0;
  onProgress({ phase, done, total, detail });
  return measure(contenders, tasks, {
    workspace,
    signal,
    onAttempt: () => {
      done++;
      const remainingMs = ((performance.now() - started) / done) * (total - done);
      onProgress({ phase, done, total, detail, remainingMs });
    },
  });
}
