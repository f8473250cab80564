import { SlipstreamError } from '../errors.ts';
import type { ModelRuntime } from '../modelRuntime.ts';
import { type Algorithm, algorithms as allAlgorithms, type SpeculationSettings } from '../protocol.ts';
import { openSpeculation } from '../speculation/speculation.ts';
import { planSpeculation, type SpeculationPlan } from '../speculation/speculationPlan.ts';
import { greedyVerifier } from '../verify/greedy.ts';
import { Contender } from './contender.ts';
import type { Targets } from './targets.ts';
import type { TaskWorkspace } from './taskWorkspace.ts';

export interface ContenderOptions {
  /** Absent: all that can run with the model. */
  readonly algorithms?: readonly Algorithm[] | undefined;
  /** For every algorithm but `none`. */
  readonly speculation: Omit<SpeculationSettings, 'algorithm'>;
  readonly maxNewTokens: number;
  readonly promptTokens?: number | undefined;
}

/** What the algorithms to compare come down to for a model. */
export interface ContenderPlans {
  /** `none` first. */
  readonly plans: readonly SpeculationPlan[];
  /** Why an algorithm is not among them, and what one has to know of those that are. */
  readonly notes: readonly string[];
}

/**
 * What was named has to run; of the others, those that cannot run with the model are left out.
 *
 * @throws SlipstreamError usage when one that was named cannot run with the model; model.* for a bad model or head
 */
export async function planContenders(
  modelDir: string,
  { algorithms, speculation }: Pick<ContenderOptions, 'algorithms' | 'speculation'>,
): Promise<ContenderPlans> {
  const plans = [await planSpeculation({ algorithm: 'none' }, modelDir)];
  const notes: string[] = [];
  const headless: Algorithm[] = [];
  const wanted = new Set(algorithms ?? [...allAlgorithms].sort(autoLast));
  wanted.delete('none');
  for (const algorithm of wanted) {
    try {
      const plan = await planSpeculation({ ...speculation, algorithm }, modelDir);
      // Another name for what is compared already says nothing more, unless it was asked for.
      if (!algorithms && isNgramByAnotherName(plan)) continue;
      plans.push(plan);
      if (plan.note !== undefined) notes.push(plan.note);
    } catch (error) {
      if (algorithms || !(error instanceof SlipstreamError)) throw error;
      if (error.code === 'usage') headless.push(algorithm);
      else notes.push(`Left out: ${algorithm}. ${error.message}`);
    }
  }
  if (headless.length > 0) {
    notes.push(`Left out, for want of a head or draft model of this model: ${headless.join(', ')}.`);
  }
  return { plans, notes };
}

/** It is read beside those that it chooses from. */
const autoLast = (a: Algorithm, b: Algorithm) => Number(a === 'auto') - Number(b === 'auto');

const isNgramByAnotherName = ({ settings, drafting }: SpeculationPlan) =>
  settings.algorithm !== 'ngram' && drafting.kind === 'ngram';

/** @throws SlipstreamError model.*, usage, outOfMemory, io */
export async function openContender(
  plan: SpeculationPlan,
  targets: Targets,
  workspace: TaskWorkspace,
  { maxNewTokens, promptTokens }: ContenderOptions,
): Promise<Contender> {
  const target: ModelRuntime = await targets.load(plan);
  const { cacheDir, log } = targets.options;
  return new Contender({
    runtime: target,
    algorithm: plan.settings.algorithm,
    speculation: await openSpeculation(plan, {
      target,
      workspace: workspace.ngrams,
      cacheDir,
      log,
      threads: target.threads,
    }),
    verifier: greedyVerifier,
    findSimilar: (near) => workspace.findSimilar(near),
    maxNewTokens,
    promptTokens,
  });
}
