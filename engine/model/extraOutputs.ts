import type { ModelOutputs } from '../compile/targetOutputs.ts';

/** Names of the tapped hidden states among a graph's outputs. */
export function tapNames({ taps }: ModelOutputs): string[] {
  return taps.map((tap) => `tap_${tap}`);
}

/** What a run fetches beside the predictions, of a graph that hands it out. */
export function extraOutputNames(outputs: ModelOutputs): string[] {
  const names = tapNames(outputs);
  if (outputs.successors > 0) names.push('successors');
  if (outputs.successors > 0 && outputs.logProbs === 'successors') names.push('successor_log_probs');
  return names;
}
