import { type Device, type Precision, type ProductRows, runsOn } from '../compile/precision.ts';
import type { ModelOutputs } from '../compile/targetOutputs.ts';
import { SlipstreamError } from '../errors.ts';
import { hasWebGpu, listAdapters } from './adapters.ts';
import { type CostTable, suggestionMs } from './costTable.ts';
import { openGuarded } from './gpuOpening.ts';
import { probeGpu } from './gpuProbe.ts';
import type { LanguageModel } from './languageModel.ts';
import { DEFAULT_PRECISION, prepareModel } from './modelCandidate.ts';

export interface OpenModelOptions extends Partial<ModelOutputs> {
  readonly device: 'auto' | Device;
  /**
   * Default: int8 on either device, so that quality does not depend on where the model runs. Half the bytes a step of
   * fp16, on GPUs without float16 as well, and far closer to the checkpoint than int4.
   */
  readonly precision?: Precision;
  /** Default: several. One for a draft model, whose chains need not be exact. */
  readonly rows?: ProductRows;
  readonly cacheDir: string;
  /** Threads of the CPU at most; as many are used as a measurement finds fastest. */
  readonly threads: number;
  readonly log: (level: 'info' | 'warn', message: string) => void;
}

export interface OpenedModel {
  readonly model: LanguageModel;
  readonly costTable: CostTable;
  /** Threads of the CPU in use; absent on a GPU. */
  readonly threads?: number;
  /** Why it is this device, in a sentence. */
  readonly deviceReason: string;
  /** The same, where it is another one than was asked for and the user should know. */
  readonly deviceNote?: string;
}

/**
 * Compiles (or finds compiled), loads and measures a model. Nothing that is wrong with a GPU is an error here: the CPU
 * goes on, with a note.
 *
 * @throws SlipstreamError model.* for a bad checkpoint, usage when the device cannot run the precision, outOfMemory, io
 */
export async function openModel(dir: string, options: OpenModelOptions): Promise<OpenedModel> {
  const opened = await openOnDevice(dir, options);
  options.log('info', `${opened.model.info.name} on ${opened.model.info.device}: ${opened.deviceReason}`);
  return opened;
}

function openOnDevice(dir: string, options: OpenModelOptions): Promise<OpenedModel> {
  switch (options.device) {
    case 'cpu':
      return openCpu(dir, options, 'The setting is "cpu".');
    case 'webgpu':
      return openAskedGpu(dir, options);
    case 'auto':
      return openFaster(dir, options);
  }
}

async function openCpu(dir: string, options: OpenModelOptions, deviceReason: string): Promise<OpenedModel> {
  const cpu = await prepareModel(dir, 'cpu', options);
  return { ...(await cpu.open()), deviceReason };
}

async function openGpu(dir: string, options: OpenModelOptions, deviceReason: string): Promise<OpenedModel> {
  const gpu = await prepareModel(dir, 'webgpu', options);
  return { ...(await gpu.open()), deviceReason };
}

async function openAskedGpu(dir: string, options: OpenModelOptions): Promise<OpenedModel> {
  try {
    return await openGpu(dir, options, 'The setting is "webgpu".');
  } catch (error) {
    if (!runsOnCpu(options)) throw error;
    const note = `${gpuFaultMessage(error)} The CPU goes on.`;
    return { ...(await openCpu(dir, options, note)), deviceNote: note };
  }
}

async function openFaster(dir: string, options: OpenModelOptions): Promise<OpenedModel> {
  if (!runsOnCpu(options)) return openGpu(dir, options, 'The precision does not run on the CPU.');
  const obstacle = await gpuObstacle(options);
  if (obstacle) return openCpu(dir, options, obstacle);
  const cpu = await prepareModel(dir, 'cpu', options);
  const gpu = await prepareModel(dir, 'webgpu', options).catch(gpuLeft);
  if ('why' in gpu) return { ...(await cpu.open()), ...gpuNote(gpu) };
  if (cpu.measured && gpu.measured && !isFaster(gpu.measured, cpu.measured)) {
    return { ...(await cpu.open()), deviceReason: comparison(cpu.measured, gpu.measured) };
  }
  // Measured on both already: only the faster one is loaded.
  const onCpu = cpu.measured && gpu.measured ? undefined : await cpu.open();
  try {
    const onGpu = await gpu.open();
    const cpuTable = onCpu?.costTable ?? cpu.measured!;
    const deviceReason = comparison(cpuTable, onGpu.costTable);
    if (onCpu && !isFaster(onGpu.costTable, cpuTable)) {
      await onGpu.model.dispose();
      return { ...onCpu, deviceReason };
    }
    await onCpu?.model.dispose();
    return { ...onGpu, deviceReason };
  } catch (error) {
    if (!(error instanceof SlipstreamError)) await onCpu?.model.dispose();
    const left = gpuNote(gpuLeft(error));
    return { ...(onCpu ?? (await cpu.open())), ...left };
  }
}

function runsOnCpu({ precision = DEFAULT_PRECISION }: OpenModelOptions): boolean {
  return runsOn('cpu', precision);
}

/** Nobody asked for the GPU: whatever is wrong there, the CPU works. */
function gpuLeft(error: unknown): { readonly why: string } {
  if (error instanceof SlipstreamError) return { why: error.message };
  throw error;
}

function gpuNote({ why }: { readonly why: string }): Pick<OpenedModel, 'deviceReason' | 'deviceNote'> {
  const note = `${why} The CPU goes on.`;
  return { deviceReason: note, deviceNote: note };
}

/** Why a GPU is out of the question before any model is loaded on it. */
async function gpuObstacle({ cacheDir }: OpenModelOptions): Promise<string | undefined> {
  if (!hasWebGpu()) return 'The inference runtime has no WebGPU for this platform.';
  if ((await listAdapters()).length === 0) return 'This machine has no graphics adapter of its own.';
  try {
    const probe = await openGuarded(cacheDir, probeGpu);
    return probe.usable ? undefined : probe.reason;
  } catch (error) {
    return gpuFaultMessage(error);
  }
}

/** The GPU has to win clearly: its passes disturb what draws the screen, and its rows take its memory. */
const CLEARLY = 0.9;

function isFaster(gpu: CostTable, cpu: CostTable): boolean {
  return suggestionMs(gpu) < CLEARLY * suggestionMs(cpu);
}

function comparison(cpu: CostTable, gpu: CostTable): string {
  const [cpuMs, gpuMs] = [cpu, gpu].map((table) => (suggestionMs(table) / 4).toFixed(1));
  return `A pass takes ${gpuMs} ms on the GPU and ${cpuMs} ms on the CPU.`;
}

const gpuFaultCodes: readonly string[] = ['device.unavailable', 'device.lost', 'outOfMemory'];

/** @throws the error itself where it is not the GPU's fault */
function gpuFaultMessage(error: unknown): string {
  if (error instanceof SlipstreamError && gpuFaultCodes.includes(error.code)) return error.message;
  throw error;
}
