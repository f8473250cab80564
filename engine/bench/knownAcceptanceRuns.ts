import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CheckpointShape, writeRandomCheckpoint } from '../../test/randomCheckpoint.ts';
import { writeRandomHead } from '../../test/randomHead.ts';
import { median } from '../benchmark/statistics.ts';
import type { Device } from '../compile/precision.ts';
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

/** A chain as long as pays at this acceptance. */
export const STEPS = 4;
/** Of each drafted token, given that those before it were accepted. */
export const ACCEPTANCE = 0.8;
const PROMPT_TOKENS = 256;
const NEW_TOKENS = 96;
const ROUNDS = 7;

/** The same text written without drafts and with them, one right after the other. */
export interface KnownAcceptanceRun {
  readonly plain: DecodeResult;
  readonly drafted: DecodeResult;
}

/**
 * A target of random weights, which change no time, and a drafter whose acceptance is known: a real EAGLE-3 head runs for
 * its cost, and what it proposes is replaced by the target's own text with mistakes.
 */
export async function knownAcceptanceRuns(
  shape: CheckpointShape,
  device: Device,
  { cacheDir, seed }: BenchContext,
): Promise<KnownAcceptanceRun[]> {
  const dir = await mkdtemp(join(tmpdir(), 'slipstream-known-'));
  try {
    const target = writeRandomCheckpoint(join(dir, 'target'), shape, seed);
    writeRandomHead(join(target, 'heads', 'eagle3'), 'eagle3', shape, seed);
    const plan = await planSpeculation({ algorithm: 'eagle3', numSteps: STEPS }, target);
    return await interleaved(target, plan, { device, cacheDir, seed, vocabSize: shape.vocabSize });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

interface RunOptions {
  readonly device: Device;
  readonly cacheDir: string;
  readonly seed: number;
  readonly vocabSize: number;
}

async function interleaved(
  dir: string,
  plan: SpeculationPlan,
  options: RunOptions,
): Promise<KnownAcceptanceRun[]> {
  const { device, cacheDir, seed, vocabSize } = options;
  const open = { device, cacheDir, threads: mostThreads, log: () => {} };
  const plainTarget = await openModel(dir, open);
  const tappedTarget = await openModel(dir, { ...open, ...plan.outputs });
  const { threads = mostThreads } = tappedTarget;
  const speculation = await openSpeculation(plan, { ...open, threads, target: tappedTarget });
  const random = seededRandom(seed);
  const prompt = Int32Array.from({ length: PROMPT_TOKENS }, () => Math.floor(random() * vocabSize));
  const sessions = [plainTarget, tappedTarget].map(
    ({ model }) => new Session(model.createKvCache(PROMPT_TOKENS), model.info),
  );
  const runs: KnownAcceptanceRun[] = [];
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

export interface KnownAcceptanceSummary {
  readonly speedUp: number;
  /** All of it in words. */
  readonly text: string;
}

export function summarizeRuns(runs: readonly KnownAcceptanceRun[]): KnownAcceptanceSummary {
  const ofRuns = (value: (run: KnownAcceptanceRun) => number) => median(runs.map(value));
  const speedUp = ofRuns(({ plain, drafted }) => plain.metrics.decodeMs / drafted.metrics.decodeMs);
  const perStep = (side: keyof KnownAcceptanceRun, key: 'verifyMs' | 'draftMs') =>
    ofRuns((run) => run[side].metrics[key] / run[side].metrics.numSteps);
  const tokensPerStep = ofRuns(({ drafted: { metrics } }) => metrics.completionTokens / metrics.numSteps);
  const one = perStep('plain', 'verifyMs');
  const several = perStep('drafted', 'verifyMs');
  const draft = perStep('drafted', 'draftMs');
  const bound = (tokensPerStep * one) / (several + draft);
  const text =
    `${tokensPerStep.toFixed(2)} tokens a step; T(1) ${one.toFixed(2)} ms, T(${STEPS + 1}) ${several.toFixed(2)}, ` +
    `drafting ${draft.toFixed(2)}; bound ${bound.toFixed(2)}x, ${Math.round((100 * speedUp) / bound)} % of it`;
  return { speedUp, text };
}

/** Whether drafts changed no token. Only the CPU promises that for close decisions too. */
export function isLossless({ plain, drafted }: KnownAcceptanceRun): boolean {
  return plain.tokens.join() === drafted.tokens.join();
}
