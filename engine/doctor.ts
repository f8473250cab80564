import { resolve } from 'node:path';
import { mostThreads } from './config.ts';
import { embeddedModelDir } from './embeddedModel.ts';
import { SlipstreamError } from './errors.ts';
import { describeMachine, type Machine } from './machine.ts';
import { listAdapters } from './model/adapters.ts';
import { type CostTable, passMs } from './model/costTable.ts';
import { openGuarded } from './model/gpuOpening.ts';
import { type GpuProbe, probeGpu } from './model/gpuProbe.ts';
import type { ModelInfo } from './model/languageModel.ts';
import { type OpenedModel, openModel } from './model/openModel.ts';
import { runtimeFacts } from './model/runtimeFacts.ts';
import { loadTokenizer } from './model/tokenizer.ts';
import type { AlgorithmFacts, Device } from './protocol.ts';
import { availableAlgorithms } from './speculation/availableAlgorithms.ts';
import { planSpeculation } from './speculation/speculationPlan.ts';
import { chooseFimFormat } from './text/fimFormat.ts';

export interface DoctorOptions {
  /** Absent: the embedded model. */
  readonly modelDir?: string | undefined;
  readonly device: Device;
  readonly cacheDir: string;
  readonly log: (level: 'info' | 'warn', message: string) => void;
}

/** What was found on this machine and what suggestions will run on. */
export interface DoctorReport {
  readonly machine: Machine;
  readonly runtime: { readonly version: string; readonly backends: readonly string[] };
  /** Graphics hardware, by name. */
  readonly adapters: readonly string[];
  readonly webgpu: GpuProbe;
  readonly model: ModelInfo & { readonly dir: string; readonly fimFormat: string };
  readonly threads: number;
  readonly costTable: CostTable;
  /** Where compiled models, indexes and measurements lie. */
  readonly cacheDir: string;
  /** What can draft for the model. */
  readonly algorithms: readonly AlgorithmFacts[];
  /** Sentences: what will be used, and why. */
  readonly reasons: readonly string[];
}

/** Looks at the machine, loads the model as a suggestion would, and measures it. */
export async function examine(options: DoctorOptions): Promise<DoctorReport> {
  const { modelDir = embeddedModelDir, device, cacheDir, log } = options;
  const tokenizer = await loadTokenizer(modelDir);
  // The graph that suggestions run on: with what their drafters learn from.
  const { outputs } = await planSpeculation({ algorithm: 'auto' }, modelDir);
  const opened = await openModel(modelDir, { device, cacheDir, threads: mostThreads, log, ...outputs });
  try {
    return {
      machine: describeMachine(),
      runtime: runtimeFacts(),
      adapters: await listAdapters(),
      webgpu: await probeGuarded(cacheDir),
      model: { ...opened.model.info, dir: modelDir, fimFormat: chooseFimFormat(tokenizer).name },
      threads: opened.threads ?? 0,
      costTable: opened.costTable,
      cacheDir: resolve(cacheDir),
      algorithms: await availableAlgorithms({ algorithm: 'auto' }, modelDir),
      reasons: [modelReason(opened, options), deviceReason(opened), speculationReason(opened.costTable)],
    };
  } finally {
    await opened.model.dispose();
  }
}

/** A driver that takes processes down is not asked for ever. */
async function probeGuarded(cacheDir: string): Promise<GpuProbe> {
  try {
    return await openGuarded(cacheDir, probeGpu);
  } catch (error) {
    if (error instanceof SlipstreamError) return { usable: false, reason: error.message };
    throw error;
  }
}

function modelReason({ model }: OpenedModel, { modelDir }: DoctorOptions): string {
  const origin = modelDir === undefined ? 'the included model; none other is chosen' : 'the model chosen';
  return `${model.info.name} in ${model.info.precision} (${origin}).`;
}

function deviceReason({ model, deviceReason }: OpenedModel): string {
  const device = model.info.device === 'cpu' ? 'processor' : 'graphics processor, through WebGPU';
  return `On the ${device}. ${deviceReason}`;
}

/** How many of a few draft tokens have to be right for drafting to pay here. */
function speculationReason(costs: CostTable): string {
  const drafts = 4;
  const context = 512;
  const one = passMs(costs, 1, context);
  const share = (passMs(costs, drafts + 1, context) / one - 1) / drafts;
  return share < 1
    ? `Drafts of ${drafts} tokens pay when more than ${Math.ceil(100 * share)} % of them are accepted; otherwise none are made.`
    : `Checking ${drafts} draft tokens costs as much as writing them: drafts do not pay on this machine.`;
}
