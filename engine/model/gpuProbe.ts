import { writeOnnxModel } from '../compile/onnxModel.ts';
import { SlipstreamError } from '../errors.ts';
import { createGpuSession } from './gpuSession.ts';

export type GpuProbe = { readonly usable: true } | { readonly usable: false; readonly reason: string };

/** Whether WebGPU finds an adapter that works: loads the smallest graph there is. */
export async function probeGpu(): Promise<GpuProbe> {
  const value = { type: 'float32', shape: [1] } as const;
  const graph = writeOnnxModel({
    nodes: [{ op: 'Neg', domain: '', inputs: ['x'], outputs: ['y'], attributes: {} }],
    initializers: [],
    inputs: [{ name: 'x', ...value }],
    outputs: [{ name: 'y', ...value }],
  });
  try {
    await (await createGpuSession(graph, 'cpu')).release();
    return { usable: true };
  } catch (error) {
    if (error instanceof SlipstreamError) return { usable: false, reason: error.message };
    throw error;
  }
}
