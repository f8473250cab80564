import type { CompiledModel } from '../compile/compileModel.ts';
import { exactThreads } from '../compile/cpuAttention.ts';
import { checkComputesNumbers } from './computesNumbers.ts';
import { CpuKvCache } from './cpuKvCache.ts';
import { createCpuSession } from './cpuSession.ts';
import type { LanguageModel, ModelInfo } from './languageModel.ts';
import { modelInfo } from './modelInfo.ts';
import type * as ort from './onnxruntime.ts';

/**
 * Loads a compiled model for the CPU.
 *
 * @param threads at most; no more than keep a token's result independent of what it is evaluated with (exactThreads)
 * @throws SlipstreamError model.corrupt when the runtime refuses the graph or it computes no numbers, outOfMemory
 */
export async function openCpuModel(compiled: CompiledModel, threads: number): Promise<LanguageModel> {
  const exact = exactThreads(compiled.checkpoint.architecture);
  const session = await createCpuSession(compiled.graphFile, Math.min(threads, exact));
  const model = new CpuModel(session, compiled);
  try {
    await checkComputesNumbers(model);
    return model;
  } catch (error) {
    await model.dispose();
    throw error;
  }
}

class CpuModel implements LanguageModel {
  readonly info: ModelInfo;
  readonly #session: ort.InferenceSession;
  readonly #compiled: CompiledModel;

  constructor(session: ort.InferenceSession, compiled: CompiledModel) {
    this.#session = session;
    this.#compiled = compiled;
    this.info = modelInfo(compiled);
  }

  createKvCache(capacity: number): CpuKvCache {
    return new CpuKvCache(this.#session, this.#compiled, capacity);
  }

  dispose(): Promise<void> {
    return this.#session.release();
  }
}
