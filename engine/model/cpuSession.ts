import { availableParallelism } from 'node:os';
import type { CompiledGraph } from '../compile/graphCache.ts';
import { cpuFault } from './cpuFault.ts';
import { loadHealing } from './healing.ts';
import * as ort from './onnxruntime.ts';
import { productsSaturate } from './saturation.ts';

/** Products of a small model follow one another faster than that; spinning for longer (the default) takes more from others. */
const SPIN_MICROSECONDS = '50';

/**
 * Whether a thread that waits for others spins before it sleeps. Waking one takes tens of microseconds, so that without it
 * a second thread gains nothing in a small model. Where threads take every core, spinning only keeps out what they wait
 * for: an editor wants cores too (docs/decisions/0033).
 */
export function isSpinning(threads: number, cores = availableParallelism()): boolean {
  return threads > 1 && threads < cores;
}

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
      extra: {
        session: {
          intra_op: isSpinning(threads)
            ? { allow_spinning: '1', spin_duration_us: SPIN_MICROSECONDS }
            : { allow_spinning: '0' },
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
