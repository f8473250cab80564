/** What the comparison uses of node-llama-cpp's types (it is installed apart, see installPeer.ts). */
export interface PeerModule {
  getLlama(options: { gpu: false; build: 'never'; maxThreads: number; progressLogs: false }): Promise<Llama>;
  /** Drafts what followed the last tokens where they stand in its input tokens; 3 at most unless told otherwise. */
  readonly InputLookupTokenPredictor: new (options: {
    predictionLength: { max: number };
  }) => TokenPredictor;
  /**
   * Drafts with another model, beside the target's passes: a pass takes what is there, but waits for `minTokens` (0 unless
   * told otherwise). A token that is less probable than `minConfidence` (0.6) ends the draft.
   */
  readonly DraftSequenceTokenPredictor: new (
    draftSequence: LlamaSequence,
    options: { minTokens: number; minConfidence: number },
  ) => TokenPredictor;
}

export interface Llama {
  loadModel(options: { modelPath: string }): Promise<LlamaModel>;
  dispose(): Promise<void>;
}

export interface LlamaModel {
  createContext(options: {
    contextSize: number;
    threads: { ideal: number; min: number };
  }): Promise<LlamaContext>;
}

export interface LlamaContext {
  getSequence(options?: { tokenPredictor: TokenPredictor }): LlamaSequence;
  dispose(): Promise<void>;
}

export interface TokenPredictor {
  /** Its own completion classes pass the whole prompt. */
  updateInputTokens(tokens: readonly number[]): void;
  /** Stops what is being predicted and waits for its end. */
  reset(state: {
    targetSequence: LlamaSequence;
    stateTokens: readonly number[];
    evaluateOptions: Record<string, never>;
  }): Promise<void> | void;
}

export interface LlamaSequence {
  clearHistory(): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: readonly number[]): Promise<void>;
  /** Temperature 0 is greedy. */
  evaluate(
    tokens: readonly number[],
    options: { temperature: 0; yieldEogToken: true },
  ): AsyncGenerator<number, unknown>;
  /** Since it was created: predicted tokens that the target agreed with, and those that it did not. */
  readonly tokenPredictions: { readonly validated: number; readonly refuted: number };
}
