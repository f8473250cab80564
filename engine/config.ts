import { availableParallelism } from 'node:os';

/**
 * Threads of a forward pass. All cores: a pass is short, and idle workers sleep (cpuModel.ts); beyond 8 the small
 * products of a step gain nothing.
 */
export const defaultThreads = Math.min(8, availableParallelism());

/** Idle sessions whose KV rows are kept: a person goes back and forth between this many places. */
export const idleSessions = 3;

/** Tokens of a prompt, however long the model's context: more helps little and is prefilled for long on a CPU. */
export const longestPrompt = 1500;
