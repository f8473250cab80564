import { after } from 'node:test';
import { compileModel } from '../engine/compile/compileModel.ts';
import type { Precision } from '../engine/compile/precision.ts';
import type { ModelOutputs } from '../engine/compile/targetOutputs.ts';
import { openGpuModel } from '../engine/model/gpuModel.ts';
import type { LanguageModel } from '../engine/model/languageModel.ts';
import { useSoftwareGpu } from './softwareGpu.ts';
import { temporaryFolder } from './temporaryFolder.ts';

export interface GpuModelOptions extends Partial<ModelOutputs> {
  readonly precision: Precision;
}

/** Opens models on the GPU for one test file: compiled into a folder of its own, disposed at the end. */
export class GpuModels {
  readonly #cacheDir = temporaryFolder();
  readonly #opened: LanguageModel[] = [];

  constructor() {
    useSoftwareGpu();
    after(() => Promise.all(this.#opened.map((model) => model.dispose())));
  }

  async open(dir: string, options: GpuModelOptions): Promise<LanguageModel> {
    const compiled = await compileModel(dir, { ...options, device: 'webgpu', cacheDir: this.#cacheDir });
    const model = await openGpuModel(compiled);
    this.#opened.push(model);
    return model;
  }
}
