/** What the comparison uses of node-llama-cpp's types (it is installed apart, see installPeer.ts). */
export interface PeerModule {
  getLlama(options: { gpu: false; build: 'never'; maxThreads: number; progressLogs: false }): Promise<Llama>;
}

interface Llama {
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
  getSequence(): LlamaSequence;
  dispose(): Promise<void>;
}

export interface LlamaSequence {
  clearHistory(): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: readonly number[]): Promise<void>;
  /** Temperature 0 is greedy. */
  evaluate(
    tokens: readonly number[],
    options: { temperature: 0; yieldEogToken: true },
  ): AsyncGenerator<number, unknown>;
}
