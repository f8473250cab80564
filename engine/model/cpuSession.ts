import type { CompiledGraph } from '../compile/graphCache.ts';
import { cpuFault } from './cpuFault.ts';
import { loadHealing } from './healing.ts';
import * as ort from './onnxruntime.ts';
import { productsSaturate } from './saturation.ts';

/**
 * Loads a compiled graph for the CPU.
 *
 * @throws SlipstreamError model.corrupt when the runtime refuses the graph, outOfMemory
 */
export async function createCpuSession(graphFile: string, threads: number): Promise<ort.InferenceSession> {
  const saturates = await productsSaturate().catch((cause) => {
    throw cpuFault(cause, (said) => ({
      code: 'internal',
      message: `onnxruntime does not work here: ${said}`,
    }));
  });
  try {
    return await ort.InferenceSession.create(graphFile, {
      executionProviders: ['cpu'],
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      graphOptimizationLevel: 'all',
      logSeverityLevel: 3,
      // Spinning workers double the time of a run when anything else wants the cores, and an editor is such a thing.
      extra: {
        session: {
          intra_op: { allow_spinning: '0' },
          ...(saturates && { x64quantprecision: '1' }),
        },
      },
    });
  } catch (cause) {
    throw cpuFault(cause, (said) => ({
      code: 'model.corrupt',
      message: `${graphFile}: onnxruntime cannot load it: ${said}`,
    }));
  }
}

export interface LoadOptions {
  readonly threads: number;
  readonly log: (level: 'warn', message: string) => void;
}

/**
 * Compiles (or finds compiled) and loads a graph.
 *
 * @throws SlipstreamError model.corrupt, outOfMemory; what `compile` throws
 */
export async function loadCompiled<Graph extends CompiledGraph>(
  compile: () => Promise<Graph>,
  { threads, log }: LoadOptions,
): Promise<{ readonly session: ort.InferenceSession; readonly compiled: Graph }> {
  const load = ({ graphFile }: Graph) => createCpuSession(graphFile, threads);
  const { loaded, compiled } = await loadHealing(await compile(), { compile, load, log });
  return { session: loaded, compiled };
}
