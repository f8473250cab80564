import type { CompiledModel } from '../compile/compileModel.ts';
import { checkComputesNumbers } from './computesNumbers.ts';
import { safeTokensPerRun } from './gpuCheck.ts';
import { type GpuDecoder, GpuKvCache } from './gpuKvCache.ts';
import { GpuRows } from './gpuRows.ts';
import { createGpuSession } from './gpuSession.ts';
import type { LanguageModel, ModelInfo } from './languageModel.ts';
import { modelInfo } from './modelInfo.ts';

/**
 * Loads a model compiled for WebGPU, and checks that this GPU computes it rightly.
 *
 * @throws SlipstreamError model.corrupt when it computes no numbers, device.unavailable, device.lost, outOfMemory
 */
export async function openGpuModel(compiled: CompiledModel): Promise<LanguageModel> {
  const session = await createGpuSession(compiled.graphFile, 'cpu');
  let rows: GpuRows | undefined;
  try {
    const type = compiled.precision === 'fp16' ? 'float16' : 'float32';
    rows = await GpuRows.create(compiled.checkpoint.architecture, type);
    const decoder = { session, rows, compiled };
    const model = new GpuModel({ ...decoder, tokensPerRun: await safeTokensPerRun(decoder) });
    await checkComputesNumbers(model);
    return model;
  } catch (error) {
    await rows?.dispose();
    await session.release();
    throw error;
  }
}

class GpuModel implements LanguageModel {
  readonly info: ModelInfo;
  readonly #decoder: GpuDecoder;

  constructor(decoder: GpuDecoder) {
    this.#decoder = decoder;
    this.info = modelInfo(decoder.compiled);
  }

  createKvCache(capacity: number): GpuKvCache {
    return new GpuKvCache(this.#decoder, capacity);
  }

  async dispose(): Promise<void> {
    await this.#decoder.rows.dispose();
    await this.#decoder.session.release();
  }
}
