import { listAdapters } from '../model/adapters.ts';
import { probeGpu } from '../model/gpuProbe.ts';
import type { BenchContext } from './context.ts';
import { ACCEPTANCE, isLossless, knownAcceptanceRuns, STEPS, summarizeRuns } from './knownAcceptanceRuns.ts';
import type { Section } from './report.ts';

/** Qwen2.5-0.5B's: 494 million parameters. */
const shape = {
  modelType: 'qwen2',
  vocabSize: 151936,
  hiddenSize: 896,
  intermediateSize: 4864,
  layers: 24,
  heads: 14,
  kvHeads: 2,
  headDim: 64,
  tied: true,
  contextLength: 2048,
} as const;

/** What EAGLE-3 is said to reach on a GPU, with a target of 8 billion parameters. */
const EAGLE3_ON_GPU = 2.4;

/** The engine's part of speculation on this machine's graphics processor, with a target of half a billion parameters. */
export async function measureGpu(context: BenchContext): Promise<Section> {
  const title = `GPU: half a billion parameters, ${STEPS} draft tokens a step, each accepted with ${ACCEPTANCE}`;
  const probe = await probeGpu();
  if (!probe.usable) return { title, figures: [], notes: [probe.reason], faults: [], details: probe };
  context.progress('gpu');
  const runs = await knownAcceptanceRuns(shape, 'webgpu', context);
  const { speedUp, text } = summarizeRuns(runs);
  const same = runs.filter(isLossless).length;
  return {
    title,
    figures: [
      { name: 'EAGLE-3', unit: 'x', measured: speedUp, target: { atLeast: EAGLE3_ON_GPU }, remark: text },
    ],
    notes: [
      `On ${(await listAdapters()).join(', ')}. ${same} of ${runs.length} texts are the same with drafts as without.`,
      'Random weights, and a head that runs for its cost only: acceptance is given, times are measured.',
    ],
    faults: [],
    details: runs,
  };
}
