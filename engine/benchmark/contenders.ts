import { createDrafter } from '../draft/createDrafter.ts';
import { SlipstreamError } from '../errors.ts';
import type { ModelRuntime } from '../modelRuntime.ts';
import type { Algorithm, SpeculationSettings } from '../protocol.ts';
import { greedyVerifier } from '../verify/greedy.ts';
import type { NgramIndex } from '../workspace/ngramIndex.ts';
import { Contender } from './contender.ts';

export interface ContenderOptions {
  /** Absent: all that can run with the model. */
  readonly algorithms?: readonly Algorithm[] | undefined;
  /** For every algorithm but `none`. */
  readonly speculation: Omit<SpeculationSettings, 'algorithm'>;
  readonly maxNewTokens: number;
  readonly promptTokens?: number | undefined;
}

/** Algorithms that need nothing but the model. */
const always: readonly Algorithm[] = ['none', 'ngram', 'auto'];

/**
 * The algorithms to compare, `none` first.
 *
 * @throws SlipstreamError usage when one is named that cannot run with the model
 */
export function openContenders(
  runtime: ModelRuntime,
  workspace: NgramIndex,
  { algorithms = always, speculation, maxNewTokens, promptTokens }: ContenderOptions,
): Contender[] {
  const impossible = algorithms.filter((algorithm) => !always.includes(algorithm));
  if (impossible.length > 0) {
    throw new SlipstreamError('usage', `${runtime.model.info.name} has no head for ${impossible.join(', ')}`);
  }
  const { model, tokenizer } = runtime;
  const parts = { vocabSize: model.info.vocabSize, specialTokenIds: tokenizer.specialTokenIds, workspace };
  return [...new Set<Algorithm>(['none', ...algorithms])].map((algorithm) => {
    const settings = algorithm === 'none' ? { algorithm } : { ...speculation, algorithm };
    const drafter = createDrafter(settings, parts);
    return new Contender({
      runtime,
      speculation: settings,
      drafter,
      verifier: greedyVerifier,
      maxNewTokens,
      promptTokens,
    });
  });
}
