/** What the target's graph hands out beside its predictions: what drafters learn from. */
export interface TargetOutputs {
  /**
   * Residual streams: 0 is the embedding, i the output of layer i - 1 (the input of layer i), `layers` the stream before
   * the final norm.
   */
  readonly taps: readonly number[];
  /** How many of the most probable next tokens of every predicted row, of a small vocabulary all; 0: none. */
  readonly successors: number;
}

/** What any model's graph can hand out beside its predictions. */
export interface ModelOutputs extends TargetOutputs {
  /** Successors come with their log-probabilities: what a draft model is asked for. It costs a softmax a row. */
  readonly logProbs: 'none' | 'successors';
}

export const predictionsOnly: ModelOutputs = { taps: [], successors: 0, logProbs: 'none' };
