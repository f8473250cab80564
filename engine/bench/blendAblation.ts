import { join } from 'node:path';
import { DocumentIndex } from '../benchmark/documentIndex.ts';
import { firstDifference } from '../benchmark/firstDifference.ts';
import { mostThreads } from '../config.ts';
import { fixedController } from '../decode/controller.ts';
import { BlendDrafter } from '../draft/blend.ts';
import type { Drafter } from '../draft/drafter.ts';
import type { ReliabilityBucket } from '../draft/reliability.ts';
import type { DecodeMetrics } from '../metrics.ts';
import { ModelRuntime } from '../modelRuntime.ts';
import { seededRandom } from '../seededRandom.ts';
import { openLearnedPart } from '../speculation/speculation.ts';
import { planSpeculation, type SpeculationPlan } from '../speculation/speculationPlan.ts';
import { emptyTree } from '../tree/tokenTree.ts';
import { greedyVerifier } from '../verify/greedy.ts';
import { type BenchWorkspace, heldOutWorkspaces } from './benchWorkspace.ts';
import { type Variant, type VariantParts, variants } from './blendVariants.ts';
import type { BenchContext } from './context.ts';
import { realTextVerifier } from './realTextVerifier.ts';
import type { Figure, Section } from './report.ts';
import { type Writer, writers } from './runTasks.ts';
import type { DraftTimes } from './tableTime.ts';
import { taskPrompt, taskTruth } from './taskPrompt.ts';
import { type BenchTask, sampleTasks, type TaskClass, taskClasses } from './tasks.ts';

const MAX_NEW_TOKENS = 64;

/** One completion of one task by one variant. */
interface AblationRun {
  readonly variant: string;
  readonly task: BenchTask;
  readonly writer: Writer;
  readonly metrics: DecodeMetrics;
  /** Drafts and passes by the table. */
  readonly tableMs: number;
  readonly lossless: boolean;
}

/**
 * What each part of the blend is worth, by counts and by the cost table: nothing else that runs on the machine changes
 * these numbers once the table is measured.
 */
export async function measureBlend(context: BenchContext): Promise<Section> {
  // The embedded model is too shallow for AUTO to take its head by itself: the ablation shows why.
  const draftModel = join(context.modelDir, 'heads', 'eagle3');
  const plan = await planSpeculation({ algorithm: 'auto', draftModel }, context.modelDir);
  const { cacheDir } = context;
  const runtime = await ModelRuntime.load(context.modelDir, {
    device: 'cpu',
    cacheDir,
    threads: mostThreads,
    log: () => {},
    ...plan.outputs,
  });
  const trained = await openTrained(plan, runtime, context);
  try {
    const { runs, reliability } = await runAll(runtime, trained, context);
    return {
      title: 'Blend: expected speed over none by the cost table, 64 tokens',
      figures: figures(runs),
      notes: notes(trained, reliability),
      faults: runs.filter(({ lossless }) => !lossless).map(lossText),
      details: { costTable: runtime.costTable, draftTimes: [...(trained?.learned.times ?? [])], reliability },
    };
  } finally {
    await trained?.dispose();
    await runtime.dispose();
  }
}

interface OpenedLearned {
  readonly learned: NonNullable<VariantParts['learned']>;
  dispose(): Promise<void>;
}

async function openTrained(
  { drafting, settings }: SpeculationPlan,
  runtime: ModelRuntime,
  { cacheDir }: BenchContext,
): Promise<OpenedLearned | undefined> {
  if (drafting.kind !== 'blend' || !drafting.trained) return undefined;
  const parts = { target: runtime, cacheDir, threads: runtime.threads, log: () => {} };
  const { learned, dispose } = await openLearnedPart(drafting.trained, settings, parts);
  const times = await measureDraftTimes(runtime, learned.drafter, learned.nodesPerLevel);
  return {
    learned: { ...learned, times },
    dispose: async () => {
      learned.drafter.dispose();
      await dispose();
    },
  };
}

const LEVELS = [1, 2, 3, 4, 5, 6, 8];
const REPETITIONS = 8;

/** The least that a run took, by nodes: as the cost table has passes. */
async function measureDraftTimes(
  runtime: ModelRuntime,
  learned: Drafter,
  nodesPerLevel: number,
): Promise<DraftTimes> {
  const times = new Map<number, number>();
  let step = 0;
  const drafter: Drafter = {
    name: 'timing',
    bytes: 0,
    async propose(view) {
      const nodes = nodesPerLevel * LEVELS[step++ % LEVELS.length];
      const startedMs = performance.now();
      await learned.propose(view, nodes);
      const ms = performance.now() - startedMs;
      times.set(nodes, Math.min(ms, times.get(nodes) ?? Number.POSITIVE_INFINITY));
      return emptyTree;
    },
    observe: (verdict) => learned.observe(verdict),
    dispose: () => {},
  };
  const tokens = runtime.tokenizer.encode('function area(width, height) {\n  return');
  const whole = { start: 0, end: tokens.length };
  await runtime.decode(
    { drafter, controller: fixedController(1), verifier: greedyVerifier },
    {
      prompt: { tokens, prefix: whole, suffix: { start: 0, end: 0 } },
      maxNewTokens: LEVELS.length * REPETITIONS + 1,
      endTokens: new Set(),
      onToken: () => 'continue',
      signal: new AbortController().signal,
    },
  );
  return times;
}

async function runAll(runtime: ModelRuntime, trained: OpenedLearned | undefined, context: BenchContext) {
  const random = seededRandom(context.seed);
  const runs: AblationRun[] = [];
  const reliability: ReliabilityBucket[] = [];
  for (const workspace of await heldOutWorkspaces()) {
    const tasks = sampleTasks(workspace, context.tasksPerClass, random);
    for (const writer of writers) {
      const bench = new WorkspaceAblation(runtime, workspace, trained?.learned);
      for (const [i, task] of tasks.entries()) {
        context.progress(`blend: ${workspace.name}, ${writer}, ${i}/${tasks.length}`);
        runs.push(...(await bench.run(task, writer)));
      }
      reliability.push(...bench.reliability);
    }
  }
  return { runs, reliability };
}

/** All variants over one workspace: they learn from task to task. */
class WorkspaceAblation {
  readonly #runtime: ModelRuntime;
  readonly #index: DocumentIndex;
  readonly #variants: readonly [string, Variant][];

  constructor(runtime: ModelRuntime, { documents }: BenchWorkspace, learned: VariantParts['learned']) {
    const { tokenizer, costTable } = runtime;
    const { vocabSize } = runtime.model.info;
    this.#runtime = runtime;
    this.#index = new DocumentIndex(tokenizer, vocabSize);
    for (const { path, text } of documents) this.#index.add(path, text);
    const { specialTokenIds } = tokenizer;
    const ngram = { vocabSize, specialTokenIds, workspace: this.#index.ngrams };
    this.#variants = Object.entries(variants).flatMap(([name, create]) => {
      const variant = create({ ngram, costTable, learned });
      return variant ? [[name, variant] as [string, Variant]] : [];
    });
  }

  /** Of the whole blend. */
  get reliability(): readonly ReliabilityBucket[] {
    const drafters = this.#variants.filter(([name]) => name === 'blend').map(([, { drafter }]) => drafter);
    return drafters.flatMap((drafter) => (drafter instanceof BlendDrafter ? drafter.reliability : []));
  }

  async run(task: BenchTask, writer: Writer): Promise<AblationRun[]> {
    this.#index.holdOut(task.path, task.before + task.after);
    const runs: AblationRun[] = [];
    let plain: readonly number[] | undefined;
    for (const [name, variant] of this.#variants) {
      const startedMs = variant.controller.totalMs;
      const { tokens, metrics } = await this.#decode(variant, task, writer);
      plain ??= tokens;
      const lossless = firstDifference(tokens, plain) === undefined;
      const tableMs = variant.controller.totalMs - startedMs;
      runs.push({ variant: name, task, writer, metrics, tableMs, lossless });
    }
    this.#index.restore(task.path);
    return runs;
  }

  #decode({ drafter, controller }: Variant, task: BenchTask, writer: Writer) {
    const { model, tokenizer } = this.#runtime;
    const truth = taskTruth(this.#runtime, task, MAX_NEW_TOKENS);
    const isReal = writer === 'real';
    return this.#runtime.decode(
      { drafter, controller, verifier: isReal ? realTextVerifier(truth) : greedyVerifier },
      {
        prompt: taskPrompt(this.#runtime, task, MAX_NEW_TOKENS),
        maxNewTokens: isReal ? truth.length : MAX_NEW_TOKENS,
        endTokens: isReal ? new Set() : new Set([...tokenizer.specialTokenIds, ...model.info.eosTokenIds]),
        onToken: () => 'continue',
        signal: new AbortController().signal,
      },
    );
  }
}

function figures(runs: readonly AblationRun[]): Figure[] {
  const names = [...new Set(runs.map(({ variant }) => variant))].filter((name) => name !== 'none');
  return names.flatMap((name) => [
    figure(name, runs, name),
    ...writers.flatMap((writer) =>
      taskClasses.map((taskClass) =>
        figure(`  ${title(taskClass, writer)}`, only(runs, taskClass, writer), name),
      ),
    ),
  ]);
}

function title(taskClass: TaskClass, writer: Writer): string {
  return `${taskClass}, ${writer === 'real' ? 'the real text' : 'as the model writes'}`;
}

function only(runs: readonly AblationRun[], taskClass: TaskClass, writer: Writer): AblationRun[] {
  return runs.filter((run) => run.writer === writer && run.task.taskClass === taskClass);
}

function figure(name: string, runs: readonly AblationRun[], variant: string): Figure {
  const own = runs.filter((run) => run.variant === variant);
  const plain = runs.filter((run) => run.variant === 'none');
  const tableMs = (some: readonly AblationRun[]) => some.reduce((sum, run) => sum + run.tableMs, 0);
  return { name, unit: 'x', measured: tableMs(plain) / tableMs(own), remark: countsText(own) };
}

type Count = 'completionTokens' | 'numSteps' | 'numDrafts' | 'numDraftTokens' | 'numAcceptedTokens';

function countsText(runs: readonly AblationRun[]): string {
  const total = (count: Count) => runs.reduce((sum, { metrics }) => sum + metrics[count], 0);
  const perStep = total('completionTokens') / total('numSteps');
  const length = 1 + total('numAcceptedTokens') / Math.max(1, total('numDrafts'));
  const rate = total('numAcceptedTokens') / Math.max(1, total('numDraftTokens'));
  return `${perStep.toFixed(2)} tokens a step, length ${length.toFixed(2)}, rate ${(100 * rate).toFixed(0)} %${sourcesText(runs)}`;
}

function sourcesText(runs: readonly AblationRun[]): string {
  const accepted = new Map<string, number>();
  for (const { metrics } of runs) {
    for (const [source, count] of Object.entries(metrics.numAcceptedTokensPerSource)) {
      accepted.set(source, (accepted.get(source) ?? 0) + count);
    }
  }
  return [...accepted].map(([source, count]) => `, ${source} ${count}`).join('');
}

function notes(trained: OpenedLearned | undefined, reliability: readonly ReliabilityBucket[]): string[] {
  return [
    'The time of a step: drafting as measured when nothing else ran, the pass by the cost table. Then tokens a step; of steps that',
    'drafted, the mean acceptance length; accepted of drafted tokens; accepted tokens by their source.',
    ...(trained ? [learnedText(trained)] : ['The model has no learned drafter.']),
    ...reliabilityTexts(reliability),
  ];
}

function learnedText({ learned }: OpenedLearned): string {
  const times = [...learned.times].map(([nodes, ms]) => `${nodes}: ${ms.toFixed(2)}`);
  return `The learned drafter: ${learned.source}; ms a run by nodes: ${times.join(', ')}.`;
}

const RELIABILITY_BUCKETS = 10;

/** Predicted and real acceptance of all guesses of the blend, from improbable to probable. */
function reliabilityTexts(buckets: readonly ReliabilityBucket[]): string[] {
  const sources = [...new Set(buckets.map(({ source }) => source))];
  return sources.map((source) => {
    const texts = Array.from({ length: RELIABILITY_BUCKETS }, (_, i) => {
      const inside = buckets.filter(
        (bucket) => bucket.source === source && Math.floor(bucket.predicted * RELIABILITY_BUCKETS) === i,
      );
      const count = inside.reduce((sum, bucket) => sum + bucket.count, 0);
      const mean = (key: 'predicted' | 'accepted') =>
        inside.reduce((sum, bucket) => sum + bucket[key] * bucket.count, 0) / count;
      return count === 0 ? '' : `${mean('predicted').toFixed(2)}:${mean('accepted').toFixed(2)} (${count})`;
    });
    return `Predicted : accepted, ${source}: ${texts.filter((text) => text !== '').join('  ')}`;
  });
}

function lossText({ variant, task, writer }: AblationRun): string {
  return `${variant} wrote something else than none at ${task.workspace}/${task.path}:${task.line} (${writer}).`;
}
