import { availableParallelism } from 'node:os';
import type { SamplingSettings } from './sampling/samplingSettings.ts';

/** Threads of a forward pass at most; a measurement chooses (cpuThreads.ts). Beyond 8 short products gain nothing. */
export const mostThreads = Math.min(8, availableParallelism());

/** Idle sessions whose KV rows are kept: a person goes back and forth between this many places. */
export const idleSessions = 3;

/** Tokens of a prompt, however long the model's context: more helps little and is prefilled for long on a CPU. */
export const longestPrompt = 1500;

/**
 * How suggestions beside the most probable one are sampled: warm enough to differ (at 0.2 the embedded model finds four
 * others in fewer than half of all places), and no warmer, since its texts soon get odd.
 */
export const alternativeSampling: SamplingSettings = {
  temperature: 0.5,
  topK: 0,
  topP: 0.95,
  minP: 0,
  seed: 0,
};

/** For somebody who waits to see them: with a slow model fewer are tried, but as many as it takes to have a text. */
export const alternativesWithinMs = 1500;
