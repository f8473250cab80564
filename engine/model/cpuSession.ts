import * as ort from 'onnxruntime-node';
import { cpuFault } from './cpuFault.ts';

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
      extra: { session: { intra_op: { allow_spinning: '0' } } },
    });
  } catch (cause) {
    throw cpuFault(cause, (said) => ({
      code: 'model.corrupt',
      message: `${graphFile}: onnxruntime cannot load it: ${said}`,
    }));
  }
}
