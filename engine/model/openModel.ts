import { compileModel } from '../compile/compileModel.ts';
import type { Precision } from '../compile/precision.ts';
import { type CostTable, measureCostTable } from './costTable.ts';
import { openCpuModel } from './cpuModel.ts';
import type { LanguageModel } from './languageModel.ts';

export interface OpenModelOptions {
  readonly device: 'auto' | 'cpu' | 'webgpu';
  readonly precision?: Precision;
  readonly cacheDir: string;
  readonly threads: number;
  readonly log: (level: 'info' | 'warn', message: string) => void;
}

export interface OpenedModel {
  readonly model: LanguageModel;
  readonly costTable: CostTable;
  /** Why the device is another one than was asked for, in words for the user. */
  readonly deviceNote?: string;
}

/** Compiles (or finds compiled), loads and measures a model. */
export async function openModel(dir: string, options: OpenModelOptions): Promise<OpenedModel> {
  const { precision = 'int8', cacheDir, threads } = options;
  const compiled = await compileModel(dir, { precision, taps: [], cacheDir });
  const model = await openCpuModel(compiled, threads);
  return { model, costTable: await measureCostTable(model) };
}
