/** How the target's next token is drawn; names, ranges and meanings are vLLM's. */
export interface SamplingSettings {
  /** Divides the logits, at least 0. With 0 decoding is greedy, and nothing else in here matters. */
  readonly temperature: number;
  /** Draws from this many of the most probable tokens; 0: from all. */
  readonly topK: number;
  /** Draws from the fewest tokens that hold this probability together, in (0, 1]; 1: from all. */
  readonly topP: number;
  /** Draws from tokens of at least this share of the best one's probability, in [0, 1]; 0: from all. */
  readonly minP: number;
  /** A whole number from 0 to 2^31 - 1: the same one gives the same text again. */
  readonly seed: number;
}

export const greedy: SamplingSettings = { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 0 };
