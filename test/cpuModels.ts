import { after } from 'node:test';
import { compileModel } from '../engine/compile/compileModel.ts';
import type { Precision } from '../engine/compile/precision.ts';
import type { ModelOutputs } from '../engine/compile/targetOutputs.ts';
import { openCpuModel } from '../engine/model/cpuModel.ts';
import type { LanguageModel } from '../engine/model/languageModel.ts';
import { temporaryFolder } from './temporaryFolder.ts';

export interface CpuModelOptions extends Partial<ModelOutputs> {
  readonly precision: Precision;
  readonly threads?: number;
}

/** Opens models for one test file: compiled into a folder of its own, disposed at the end. */
export class CpuModels {
  readonly #cacheDir = temporaryFolder();
  readonly #opened: LanguageModel[] = [];

  constructor() {
    after(() => Promise.all(this.#opened.map((model) => model.dispose())));
  }

  async open(dir: string, { threads = 1, ...options }: CpuModelOptions): Promise<LanguageModel> {
    const compiled = await compileModel(dir, { ...options, device: 'cpu', cacheDir: this.#cacheDir });
    const model = await openCpuModel(compiled, threads);
    this.#opened.push(model);
    return model;
  }
}
