import { DocumentIndex } from '../benchmark/documentIndex.ts';
import type { Targets } from '../benchmark/targets.ts';
import type { ModelRuntime } from '../modelRuntime.ts';
import type { Algorithm } from '../protocol.ts';
import { openSpeculation, type Speculation } from '../speculation/speculation.ts';
import type { SpeculationPlan } from '../speculation/speculationPlan.ts';
import type { BenchWorkspace } from './benchWorkspace.ts';

/** The algorithms to compare, `none` first, and the models that they draft for. */
export interface SpeculationBench {
  readonly plans: readonly SpeculationPlan[];
  readonly targets: Targets;
  readonly cacheDir: string;
}

/**
 * What is written at the keystroke before the one that is timed: then the prompt has its rows, and drafters know it, but not
 * how the answer begins.
 */
export const WARM_UP_TOKENS = 2;

export interface Contestant {
  readonly algorithm: Algorithm;
  readonly runtime: ModelRuntime;
  readonly speculation: Speculation;
}

/** The algorithms over one workspace, which they all draft from. */
export interface WorkspaceContestants {
  readonly index: DocumentIndex;
  readonly contestants: readonly Contestant[];
  dispose(): Promise<void>;
}

/** @throws SlipstreamError model.*, usage, outOfMemory, io */
export async function openContestants(
  { plans, targets, cacheDir }: SpeculationBench,
  workspace: BenchWorkspace,
): Promise<WorkspaceContestants> {
  const { tokenizer, model } = await targets.load(plans[0]);
  const index = new DocumentIndex(tokenizer, model.info.vocabSize);
  for (const { path, text } of workspace.documents) index.add(path, text);
  const contestants: Contestant[] = [];
  for (const plan of plans) {
    const runtime = await targets.load(plan);
    const { threads } = runtime;
    const parts = { target: runtime, workspace: index.ngrams, cacheDir, threads, log: () => {} };
    const speculation = await openSpeculation(plan, parts);
    contestants.push({ algorithm: plan.settings.algorithm, runtime, speculation });
  }
  return {
    index,
    contestants,
    dispose: async () => {
      for (const { speculation } of contestants) await speculation.dispose();
    },
  };
}
