import * as ort from 'onnxruntime-node';
import { type CompiledGraph, discardCompiled } from '../compile/graphCache.ts';
import { SlipstreamError } from '../errors.ts';
import { cpuFault } from './cpuFault.ts';
import { productsSaturate } from './saturation.ts';

/**
 * Loads a compiled graph for the CPU.
 *
 * @throws SlipstreamError model.corrupt when the runtime refuses the graph, outOfMemory
 */
export async function createCpuSession(graphFile: string, threads: number): Promise<ort.InferenceSession> {
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
          ...((await productsSaturate()) && { x64quantprecision: '1' }),
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
 * Compiles (or finds compiled) and loads a graph. One that cannot be loaded was damaged on disk: what it was compiled from
 * still has all that it takes.
 *
 * @throws SlipstreamError model.corrupt, outOfMemory; what `compile` throws
 */
export async function loadCompiled<Graph extends CompiledGraph>(
  compile: () => Promise<Graph>,
  { threads, log }: LoadOptions,
): Promise<{ readonly session: ort.InferenceSession; readonly compiled: Graph }> {
  const compiled = await compile();
  try {
    return { session: await createCpuSession(compiled.graphFile, threads), compiled };
  } catch (error) {
    if (!(error instanceof SlipstreamError) || error.code !== 'model.corrupt') throw error;
    log('warn', `${error.message} It is compiled again.`);
    await discardCompiled(compiled);
    const again = await compile();
    return { session: await createCpuSession(again.graphFile, threads), compiled: again };
  }
}
