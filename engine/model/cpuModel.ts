import * as ort from 'onnxruntime-node';
import type { CompiledModel } from '../compile/compileModel.ts';
import { cpuFault } from './cpuFault.ts';
import { CpuKvCache } from './cpuKvCache.ts';
import type { LanguageModel, ModelInfo } from './languageModel.ts';
import { modelInfo } from './modelInfo.ts';

/**
 * Loads a compiled model for the CPU.
 *
 * @throws SlipstreamError model.corrupt when the runtime refuses the graph, outOfMemory
 */
export async function openCpuModel(compiled: CompiledModel, threads: number): Promise<LanguageModel> {
  const session = await createSession(compiled, threads);
  return new CpuModel(session, compiled);
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

async function createSession({ graphFile }: CompiledModel, threads: number): Promise<ort.InferenceSession> {
  try {
    return await ort.InferenceSession.create(graphFile, {
      executionProviders: ['cpu'],
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      graphOptimizationLevel: 'all',
      logSeverityLevel: 3,
      // Spinning workers double the time of a run when anything else wants the cores, and an editor is such a thing.
      extra: { session: { intra_op: { allow_spinning: '0' } } },
    });
  } catch (cause) {
    throw cpuFault(cause, (said) => ({
      code: 'model.corrupt',
      message: `${graphFile}: onnxruntime cannot load it: ${said}`,
    }));
  }
}
