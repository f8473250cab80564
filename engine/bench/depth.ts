import type { BenchContext } from './context.ts';
import { ACCEPTANCE, isLossless, knownAcceptanceRuns, STEPS, summarizeRuns } from './knownAcceptanceRuns.ts';
import type { Figure, Section } from './report.ts';

/** Layers of the targets: the included model's number, then deeper ones of the same width. */
const DEPTHS = [12, 24, 48];

const shape = {
  modelType: 'qwen2',
  vocabSize: 8192,
  hiddenSize: 256,
  intermediateSize: 704,
  heads: 4,
  kvHeads: 2,
  headDim: 64,
  tied: true,
  contextLength: 2048,
} as const;

/**
 * What a deeper target makes of the same drafter: one layer drafts a token, so its share of a pass falls with the target's
 * depth.
 */
export async function measureDepth(context: BenchContext): Promise<Section> {
  const figures: Figure[] = [];
  const faults: string[] = [];
  for (const layers of DEPTHS) {
    context.progress(`depth ${layers}`);
    const runs = await knownAcceptanceRuns({ ...shape, layers }, 'cpu', context);
    const { speedUp, text } = summarizeRuns(runs);
    figures.push({ name: `${layers} layers`, unit: 'x', measured: speedUp, remark: text });
    if (!runs.every(isLossless)) {
      faults.push(`The ${layers}-layer target wrote something else with drafts than without.`);
    }
  }
  return {
    title: `Deeper targets: an EAGLE-3 head's cost, ${STEPS} draft tokens a step, each accepted with ${ACCEPTANCE}`,
    figures,
    notes: ["Random weights of the included model's width. T(n): a pass over n tokens, in this run."],
    faults,
    details: undefined,
  };
}
