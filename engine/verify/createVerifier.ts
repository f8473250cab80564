import type { SamplingSettings } from '../sampling/samplingSettings.ts';
import { greedyVerifier } from './greedy.ts';
import { rejectionVerifier } from './rejection.ts';
import type { Verifier } from './verifier.ts';

/** The verifier of one text. */
export function createVerifier(settings: SamplingSettings): Verifier {
  return settings.temperature === 0 ? greedyVerifier : rejectionVerifier(settings);
}
