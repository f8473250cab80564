import { availableParallelism } from 'node:os';

/**
 * Threads of a forward pass. All cores: a pass is short, and idle workers sleep (cpuModel.ts); beyond 8 the small
 * products of a step gain nothing.
 */
export const defaultThreads = Math.min(8, availableParallelism());

/** Idle sessions whose KV rows are kept: a person goes back and forth between this many places. */
export const idleSessions = 3;

/** Tokens of a prompt, at most; a model with a shorter context gets a share of it. */
export const promptBudget = { prefixTokens: 900, suffixTokens: 200, contextTokens: 400 };

/** A drafted tree goes past the last token of a completion: space in the context that is left for it. */
export const draftRoom = 64;
