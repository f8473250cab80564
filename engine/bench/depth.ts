import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeRandomCheckpoint } from '../../test/randomCheckpoint.ts';
import { writeRandomHead } from '../../test/randomHead.ts';
import { median } from '../benchmark/statistics.ts';
import { mostThreads } from '../config.ts';
import { fixedController } from '../decode/controller.ts';
import { type DecodeResult, decode } from '../decode/decoder.ts';
import { Session } from '../decode/session.ts';
import type { Drafter } from '../draft/drafter.ts';
import { openModel } from '../model/openModel.ts';
import { seededRandom } from '../seededRandom.ts';
import { openSpeculation } from '../speculation/speculation.ts';
import { planSpeculation, type SpeculationPlan } from '../speculation/speculationPlan.ts';
import { greedyVerifier } from '../verify/greedy.ts';
import type { BenchContext } from './context.ts';
import { KnownAcceptanceDrafter } from './knownAcceptanceDrafter.ts';
import type { Figure, Section } from './report.ts';

/** Layers of the targets: the included model's number, then deeper ones of the same width. */
const DEPTHS = [12, 24, 48];
const STEPS = 4;
/** Of each drafted token, given that those before it were accepted. */
const ACCEPTANCE = 0.8;
const PROMPT_TOKENS = 256;
const NEW_TOKENS = 96;
const ROUNDS = 7;

/**
 * What a deeper target makes of the same drafter: one layer drafts a token, so its share of a pass falls with the target's
 * depth. Weights are random, which changes no time; a real EAGLE-3 head runs for its cost, and what it proposes is replaced
 * by the target's own text with mistakes at a known rate.
 */
export async function measureDepth(context: BenchContext): Promise<Section> {
  const figures: Figure[] = [];
  const faults: string[] = [];
  for (const layers of DEPTHS) {
    context.progress(`depth ${layers}`);
    const runs = await runsOn(layers, context);
    figures.push(figure(layers, runs));
    if (runs.some(({ plain, drafted }) => plain.tokens.join() !== drafted.tokens.join())) {
      faults.push(`The ${layers}-layer target wrote something else with drafts than without.`);
    }
  }
  return {
    title: `Deeper targets: an EAGLE-3 head's cost, ${STEPS} draft tokens a step, each accepted with ${ACCEPTANCE}`,
    figures,
    notes: ["Random weights of the included model's width. T(n): a pass over n tokens, in this run."],
    faults,
    details: undefined,
  };
}

interface Run {
  readonly plain: DecodeResult;
  readonly drafted: DecodeResult;
}

async function runsOn(layers: number, { cacheDir, seed }: BenchContext): Promise<Run[]> {
  const dir = await mkdtemp(join(tmpdir(), 'slipstream-depth-'));
  try {
    const shape = { ...targetShape, layers };
    const target = writeRandomCheckpoint(join(dir, 'target'), shape, seed);
    writeRandomHead(join(target, 'heads', 'eagle3'), 'eagle3', shape, seed);
    const plan = await planSpeculation({ algorithm: 'eagle3', numSteps: STEPS }, target);
    return await interleavedRuns(target, plan, cacheDir, seed);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const targetShape = {
  modelType: 'qwen2',
  vocabSize: 8192,
  hiddenSize: 256,
  intermediateSize: 704,
  heads: 4,
  kvHeads: 2,
  headDim: 64,
  tied: true,
  contextLength: 2048,
} as const;

async function interleavedRuns(
  dir: string,
  plan: SpeculationPlan,
  cacheDir: string,
  seed: number,
): Promise<Run[]> {
  const open = { device: 'cpu', cacheDir, threads: mostThreads, log: () => {} } as const;
  const plainTarget = await openModel(dir, open);
  const tappedTarget = await openModel(dir, { ...open, ...plan.outputs });
  const { threads = 1 } = tappedTarget;
  const speculation = await openSpeculation(plan, { ...open, threads, target: tappedTarget });
  const random = seededRandom(seed);
  const prompt = Int32Array.from({ length: PROMPT_TOKENS }, () =>
    Math.floor(random() * targetShape.vocabSize),
  );
  const sessions = [plainTarget, tappedTarget].map(
    ({ model }) => new Session(model.createKvCache(PROMPT_TOKENS), model.info),
  );
  const runs: Run[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const plain = await write(sessions[0], prompt, undefined);
    const known = { text: plain.tokens, acceptance: ACCEPTANCE, levels: STEPS, random };
    const drafted = await write(sessions[1], prompt, new KnownAcceptanceDrafter(speculation.drafter!, known));
    // The first round warms up.
    if (round > 0) runs.push({ plain, drafted });
  }
  for (const session of sessions) session.dispose();
  await speculation.dispose();
  await plainTarget.model.dispose();
  await tappedTarget.model.dispose();
  return runs;
}

function write(session: Session, tokens: Int32Array, drafter: Drafter | undefined): Promise<DecodeResult> {
  return decode(
    session,
    { drafter, controller: fixedController(STEPS), verifier: greedyVerifier },
    {
      prompt: { tokens, prefix: { start: 0, end: tokens.length }, suffix: { start: 0, end: 0 } },
      maxNewTokens: NEW_TOKENS,
      endTokens: new Set(),
      onToken: () => 'continue',
      signal: new AbortController().signal,
    },
  );
}

function figure(layers: number, runs: readonly Run[]): Figure {
  const ofRuns = (value: (run: Run) => number) => median(runs.map(value));
  const speedUp = ofRuns(({ plain, drafted }) => plain.metrics.decodeMs / drafted.metrics.decodeMs);
  const perStep = (side: keyof Run, key: 'verifyMs' | 'draftMs') =>
    ofRuns((run) => run[side].metrics[key] / run[side].metrics.numSteps);
  const tokensPerStep = ofRuns(({ drafted: { metrics } }) => metrics.completionTokens / metrics.numSteps);
  const [one, several, draft] = [
    perStep('plain', 'verifyMs'),
    perStep('drafted', 'verifyMs'),
    perStep('drafted', 'draftMs'),
  ];
  const bound = (tokensPerStep * one) / (several + draft);
  return {
    name: `${layers} layers`,
    unit: 'x',
    measured: speedUp,
    remark:
      `${tokensPerStep.toFixed(2)} tokens a step; T(1) ${one.toFixed(2)} ms, T(${STEPS + 1}) ${several.toFixed(2)}, ` +
      `drafting ${draft.toFixed(2)}; bound ${bound.toFixed(2)}x, ${Math.round((100 * speedUp) / bound)} % of it`,
  };
}
