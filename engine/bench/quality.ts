import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type Estimate, meanEstimate } from '../benchmark/statistics.ts';
import type { EvalTaskResult } from '../eval/evalReport.ts';
import { maskKinds } from '../eval/evalTask.ts';
import { type EvalJob, evaluate } from '../eval/evaluate.ts';
import { seededRandom } from '../seededRandom.ts';
import { type BenchWorkspace, heldOutFolders, heldOutWorkspaces } from './benchWorkspace.ts';
import type { BenchContext } from './context.ts';
import { estimateText, type Figure, type Section, type Target } from './report.ts';

/**
 * `slipstream eval` on the held-out packages, each as a folder of its own: with and without their context, one build of
 * each; and all that they publish, where another build of the same source may hold the very text.
 */
export async function measureQuality(context: BenchContext): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), 'slipstream-quality-'));
  try {
    const workspaces = await heldOutWorkspaces();
    for (const workspace of workspaces) await writeWorkspace(join(folder, workspace.name), workspace);
    const folders = workspaces.map(({ name }) => join(folder, name));
    return section(
      {
        bare: await evaluateAll(folders, 'none', context),
        full: await evaluateAll(folders, 'workspace', context),
        published: await evaluateAll(heldOutFolders(), 'workspace', context),
      },
      context,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Git's usual rules ignore `dist`, where some packages have the only code they publish. */
async function writeWorkspace(folder: string, { documents }: BenchWorkspace): Promise<void> {
  for (const { path, text } of documents) {
    const file = join(folder, path.replace(/^dist\//u, 'src/'));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

async function evaluateAll(
  folders: readonly string[],
  from: EvalJob['context'],
  { modelDir, cacheDir, seed, tasksPerClass, progress }: BenchContext,
): Promise<EvalTaskResult[]> {
  const tasks: EvalTaskResult[] = [];
  for (const folder of folders) {
    const report = await evaluate({
      folder,
      taskCount: tasksPerClass * maskKinds.length,
      seed,
      context: from,
      settings: { algorithm: 'auto', device: 'cpu', maxTokens: 128, model: modelDir },
      cacheDir,
      log: () => {},
      onProgress: (at) => {
        if (at.step === 'completing') progress(`quality: ${basename(folder)}, ${at.done + 1} of ${at.total}`);
      },
    });
    tasks.push(...report.tasks);
  }
  return tasks;
}

type Measure = (task: EvalTaskResult) => number | undefined;

const exactMatch: Measure = (task) => Number(task.exact_match);
const editSimilarity: Measure = (task) => task.edit_similarity;
const parses: Measure = (task) => (task.parses === null ? undefined : Number(task.parses));
const shown: Measure = (task) => Number(task.suggestion !== null);

interface Qualities {
  readonly bare: readonly EvalTaskResult[];
  readonly full: readonly EvalTaskResult[];
  readonly published: readonly EvalTaskResult[];
}

function section({ bare, full, published }: Qualities, { seed }: BenchContext): Section {
  const figure = (name: string, measure: Measure, isMeant: (task: EvalTaskResult) => boolean): Figure => {
    const asPublished = percent(published.filter(isMeant), measure, seed);
    return {
      name,
      unit: '%',
      measured: percent(full.filter(isMeant), measure, seed),
      baseline: { name: 'without context', measured: percent(bare.filter(isMeant), measure, seed).value },
      remark: `as published ${estimateText(asPublished)}`,
    };
  };
  const isLine = (task: EvalTaskResult) => task.kind !== 'block';
  const isBlock = (task: EvalTaskResult) => task.kind === 'block';
  const any = () => true;
  const atLeast = (least: number): { target: Target } => ({ target: { atLeast: least } });
  return {
    title: `Quality: ${full.length} places in the held-out packages`,
    figures: [
      { ...figure('single line: exact match', exactMatch, isLine), ...atLeast(30) },
      { ...figure('single line: edit similarity', editSimilarity, isLine), ...atLeast(60) },
      figure('block: exact match', exactMatch, isBlock),
      figure('block: edit similarity', editSimilarity, isBlock),
      { ...figure('parse rate of what is shown', parses, any), ...atLeast(95) },
      figure('shown', shown, any),
    ],
    notes: [
      'One build of each package; as published, some hold the same code in several builds, which context finds.',
      'docs/eval.md says what a place is and what counts. Does not depend on how busy the machine is.',
    ],
    faults: [],
    details: { bare, full, published },
  };
}

function percent(tasks: readonly EvalTaskResult[], measure: Measure, seed: number): Estimate {
  const values = tasks.flatMap((task) => measure(task) ?? []);
  const { value, low, high } = meanEstimate(values, seededRandom(seed));
  return { value: 100 * value, low: 100 * low, high: 100 * high };
}
