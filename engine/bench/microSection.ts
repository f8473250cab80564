import { mostThreads } from '../config.ts';
import { ModelRuntime } from '../modelRuntime.ts';
import { planSpeculation } from '../speculation/speculationPlan.ts';
import { heldOutWorkspaces } from './benchWorkspace.ts';
import type { BenchContext } from './context.ts';
import { measureDrafts } from './micro/drafts.ts';
import { measureKeystrokes } from './micro/keystrokes.ts';
import { measureKvRows } from './micro/kvRows.ts';
import type { MicroBench, Subject } from './micro/microBench.ts';
import { OtherWork } from './micro/otherWork.ts';
import { measurePasses, passFigures } from './micro/passes.ts';
import { OTHER_WORK_MS } from './micro/timing.ts';
import { measureTokenizer } from './micro/tokenizer.ts';
import { measureTrees } from './micro/trees.ts';
import type { Section } from './report.ts';

/** The included model's prompts are about as long. */
const USUAL_CONTEXT = 512;

/** What a suggestion is made of, part by part, on a target that hands out what AUTO drafts from. */
export async function measureMicro(context: BenchContext): Promise<Section> {
  const { modelDir, cacheDir, seed, progress } = context;
  const { outputs } = await planSpeculation({ algorithm: 'auto' }, modelDir);
  const options = { device: 'cpu', cacheDir, threads: mostThreads, log: () => {}, ...outputs } as const;
  const runtime = await ModelRuntime.load(modelDir, options);
  try {
    const workspaces = await heldOutWorkspaces();
    return await measureAll({ runtime, workspaces, otherWork: new OtherWork(), seed }, modelDir, progress);
  } finally {
    await runtime.dispose();
  }
}

async function measureAll(
  bench: MicroBench,
  modelDir: string,
  progress: BenchContext['progress'],
): Promise<Section> {
  progress('micro: passes');
  const passes = await measurePasses(bench);
  const one = passes.find(({ newTokens, context }) => newTokens === 1 && context === USUAL_CONTEXT)!;
  const onePassMs = one.warmMs;
  const subjects: Record<string, Subject> = {};
  const measure = async (name: string, run: () => Subject | Promise<Subject>) => {
    progress(`micro: ${name}`);
    subjects[name] = await run();
  };
  await measure('tokenizer', () => measureTokenizer(bench, modelDir));
  await measure('keystrokes', () => measureKeystrokes(bench, onePassMs));
  await measure('KV rows', () => measureKvRows(bench, onePassMs));
  await measure('drafts', () => measureDrafts(bench, onePassMs));
  await measure('trees', () => measureTrees(bench, modelDir, onePassMs));
  const all = Object.values(subjects);
  return {
    title: 'Parts: passes, tokenizer, KV rows, drafts and trees; medians, as AUTO has them',
    figures: [...passFigures(passes), ...all.flatMap(({ figures }) => figures)],
    notes: [
      'T: tokens evaluated together, the last one written and a tree of drafts after it. Behind a baseline: the ratio to it.',
      `After other work: the first after ${OTHER_WORK_MS} ms in which this process touched other memory, as a keystroke finds it.`,
      `"Of a pass": one over a single token after ${USUAL_CONTEXT}, ${onePassMs.toFixed(2)} ms.`,
    ],
    faults: all.flatMap(({ faults }) => faults),
    details: {
      passes,
      ...Object.fromEntries(Object.entries(subjects).map(([name, s]) => [name, s.details])),
    },
  };
}
