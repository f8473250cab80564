import { SlipstreamError } from '../errors.ts';
import type { ModelRuntime } from '../modelRuntime.ts';
import { type Algorithm, algorithms as allAlgorithms, type SpeculationSettings } from '../protocol.ts';
import { openSpeculation, type SpeculationParts } from '../speculation/speculation.ts';
import { planSpeculation, type SpeculationPlan } from '../speculation/speculationPlan.ts';
import { greedyVerifier } from '../verify/greedy.ts';
import { Contender } from './contender.ts';

export interface ContenderOptions {
  /** Absent: all that can run with the model. */
  readonly algorithms?: readonly Algorithm[] | undefined;
  /** For every algorithm but `none`. */
  readonly speculation: Omit<SpeculationSettings, 'algorithm'>;
  readonly maxNewTokens: number;
  readonly promptTokens?: number | undefined;
}

/**
 * What the algorithms to compare come down to for a model, `none` first.
 *
 * @throws SlipstreamError usage when one is named that cannot run with the model
 */
export async function planContenders(
  modelDir: string,
  { algorithms, speculation }: ContenderOptions,
): Promise<SpeculationPlan[]> {
  const plans: SpeculationPlan[] = [];
  for (const algorithm of new Set<Algorithm>(['none', ...(algorithms ?? allAlgorithms)])) {
    const settings = algorithm === 'none' ? { algorithm } : { ...speculation, algorithm };
    const plan = await planSpeculation(settings, modelDir).catch((error) => {
      if (algorithms === undefined && error instanceof SlipstreamError && error.code === 'usage')
        return undefined;
      throw error;
    });
    // A name for what another one does already says nothing more, unless it was asked for.
    if (plan && (algorithms || plan.note === undefined)) plans.push(plan);
  }
  return plans;
}

/** @param target as the plan needs it */
export async function openContender(
  plan: SpeculationPlan,
  target: ModelRuntime,
  parts: Omit<SpeculationParts, 'target' | 'threads'>,
  { maxNewTokens, promptTokens }: ContenderOptions,
): Promise<Contender> {
  const speculation = await openSpeculation(plan, { ...parts, target, threads: target.threads });
  return new Contender({
    runtime: target,
    algorithm: plan.settings.algorithm,
    speculation,
    verifier: greedyVerifier,
    maxNewTokens,
    promptTokens,
  });
}
