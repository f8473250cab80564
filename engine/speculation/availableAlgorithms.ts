import { SlipstreamError } from '../errors.ts';
import { type AlgorithmFacts, algorithms, type SpeculationSettings } from '../protocol.ts';
import { planSpeculation } from './speculationPlan.ts';

/** Every algorithm, and of those that cannot draft for a model what they lack. */
export function availableAlgorithms(
  { draftModel }: SpeculationSettings,
  modelDir: string,
): Promise<readonly AlgorithmFacts[]> {
  return Promise.all(
    algorithms.map(async (algorithm): Promise<AlgorithmFacts> => {
      try {
        const chosen = draftModel === undefined ? { algorithm } : { algorithm, draftModel };
        const { note } = await planSpeculation(chosen, modelDir);
        return note === undefined ? { algorithm } : { algorithm, note };
      } catch (error) {
        if (!(error instanceof SlipstreamError)) throw error;
        return { algorithm, missing: error.message };
      }
    }),
  );
}
