import { type CompiledModel, compileModel } from '../compile/compileModel.ts';
import { exactThreads } from '../compile/cpuAttention.ts';
import type { Device, Precision } from '../compile/precision.ts';
import { listAdapters } from './adapters.ts';
import { type CostTable, measureCostTable } from './costTable.ts';
import { CostTableStore } from './costTableStore.ts';
import { openCpuModel } from './cpuModel.ts';
import { chooseThreads, knownThreads } from './cpuThreads.ts';
import { openGpuModel } from './gpuModel.ts';
import { openGuarded } from './gpuOpening.ts';
import { loadHealing } from './healing.ts';
import type { LanguageModel } from './languageModel.ts';
import type { OpenedModel, OpenModelOptions } from './openModel.ts';

export const DEFAULT_PRECISION: Precision = 'int8';

/** A model compiled for a device and ready to be loaded there. */
interface ModelCandidate {
  /** What its passes cost, where that was measured before. */
  readonly measured: CostTable | undefined;
  open(): Promise<Pick<OpenedModel, 'model' | 'costTable' | 'threads'>>;
}

/**
 * Compiles (or finds compiled) a model for a device.
 *
 * @throws SlipstreamError model.* for a bad checkpoint, usage when the device cannot run the precision, io
 */
export function prepareModel(
  dir: string,
  device: Device,
  options: OpenModelOptions,
): Promise<ModelCandidate> {
  return device === 'cpu' ? prepareCpu(dir, options) : prepareGpu(dir, options);
}

async function prepareCpu(dir: string, options: OpenModelOptions): Promise<ModelCandidate> {
  const compiled = await compile(dir, 'cpu', options);
  const store = new CostTableStore(options.cacheDir);
  const load = (some: CompiledModel, threads: number) =>
    openCompiled(some, options, (whole) => openCpuModel(whole, threads));
  const threads = Math.min(options.threads, exactThreads(compiled.checkpoint.architecture));
  const known = await knownThreads(compiled, store, threads);
  const open = async () => {
    const choice = known ?? (await chooseThreads(compiled, store, threads, load));
    return { model: await load(compiled, choice.threads), ...choice };
  };
  return { measured: known?.costTable, open };
}

async function prepareGpu(dir: string, options: OpenModelOptions): Promise<ModelCandidate> {
  const compiled = await compile(dir, 'webgpu', options);
  const store = new CostTableStore(options.cacheDir);
  const adapters = (await listAdapters()).join();
  const measured = await store.read(compiled, adapters);
  const open = async () => {
    const model = await openCompiled(compiled, options, openGpuModel);
    const costTable = measured ?? (await orDispose(model, () => measureCostTable(model)));
    if (!measured) await store.write(compiled, adapters, costTable, 'quiet');
    return { model, costTable };
  };
  return { measured, open: () => openGuarded(options.cacheDir, open) };
}

function compile(dir: string, device: Device, options: OpenModelOptions): Promise<CompiledModel> {
  const { precision = DEFAULT_PRECISION, rows, cacheDir, taps, successors, logProbs } = options;
  return compileModel(dir, {
    device,
    precision,
    cacheDir,
    ...(rows && { rows }),
    ...(taps && { taps }),
    ...(successors !== undefined && { successors }),
    ...(logProbs && { logProbs }),
  });
}

async function openCompiled(
  compiled: CompiledModel,
  options: OpenModelOptions,
  load: (compiled: CompiledModel) => Promise<LanguageModel>,
): Promise<LanguageModel> {
  const compileAgain = () => compile(compiled.checkpoint.dir, compiled.device, options);
  const { loaded } = await loadHealing(compiled, { compile: compileAgain, load, log: options.log });
  return loaded;
}

async function orDispose<T>(model: LanguageModel, measure: () => Promise<T>): Promise<T> {
  try {
    return await measure();
  } catch (error) {
    await model.dispose();
    throw error;
  }
}
