import { join } from 'node:path';
import { type Checkpoint, weightFiles } from '../checkpoint.ts';
import { LONGEST_CONTEXT } from '../compileModel.ts';
import { type CompiledGraph, GraphCache } from '../graphCache.ts';
import { decoderKernels, type Precision } from '../precision.ts';
import { buildDraftGraph } from './eagleGraph.ts';
import type { Expansion } from './eagleGraphExpansion.ts';
import type { RecurrentHead } from './eagleGraphStep.ts';

/** Part of every cache key: raise it when the same head would compile to another graph. */
const COMPILER_VERSION = 4;

export interface DraftCompileOptions {
  readonly precision: Precision;
  /** Default: mostProbable. */
  readonly expansion?: Expansion;
  readonly cacheDir: string;
}

export interface CompiledDraftGraph extends CompiledGraph {
  /** Positions that pairs may have. */
  readonly contextLength: number;
  readonly expansion: Expansion;
}

/**
 * The graph of a head for its target, from the cache where it is there already (key: content of both, as tables of the
 * target are part of the graph; compiler version; precision). It runs on the CPU whatever the target runs on.
 *
 * @throws SlipstreamError usage when the CPU does not run the precision, model.corrupt, io
 */
export async function compileDraftGraph(
  head: RecurrentHead,
  target: Checkpoint,
  { precision, expansion = 'mostProbable', cacheDir }: DraftCompileOptions,
): Promise<CompiledDraftGraph> {
  // A static tree has levels of several nodes; otherwise chains are what pays, unless somebody asks for more.
  const kernels = decoderKernels('cpu', precision, expansion === 'given' ? 'several' : 'one');
  const contextLength = Math.min(target.architecture.contextLength, LONGEST_CONTEXT);
  const graph = await new GraphCache(cacheDir).compile(
    {
      label: `${target.name}-${head.name}-cpu-${precision}`,
      files: [...head.files, join(target.dir, 'config.json'), ...(await weightFiles(target.dir))],
      parameters: [COMPILER_VERSION, head.kind, precision, expansion],
    },
    (weights) => buildDraftGraph(head, target, { kernels, expansion, contextLength }, weights),
  );
  return { ...graph, contextLength, expansion };
}
