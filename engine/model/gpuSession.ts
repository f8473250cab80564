import { gpuFault } from './gpuFault.ts';
import * as ort from './onnxruntime.ts';

/** Where a session's outputs are put when the caller brings no tensor for them. */
export type OutputLocation = 'cpu' | 'gpu-buffer';

/**
 * A session on the GPU alone: an operator that has no kernel there is an error, rather than a silent detour through
 * the CPU.
 *
 * @throws SlipstreamError device.unavailable, device.lost, outOfMemory
 */
export async function createGpuSession(
  model: string | Uint8Array,
  outputs: OutputLocation,
): Promise<ort.InferenceSession> {
  const options: ort.InferenceSession.SessionOptions = {
    executionProviders: ['webgpu'],
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
    ...(outputs === 'gpu-buffer' && { preferredOutputLocation: outputs }),
    // What is left to the CPU is to hand work over: one thread does that.
    intraOpNumThreads: 1,
    extra: { session: { disable_cpu_ep_fallback: '1' } },
  };
  try {
    return await (typeof model === 'string'
      ? ort.InferenceSession.create(model, options)
      : ort.InferenceSession.create(model, options));
  } catch (cause) {
    throw gpuFault(cause);
  }
}

/** @throws SlipstreamError device.lost, outOfMemory */
export async function runOnGpu(
  session: ort.InferenceSession,
  feeds: Readonly<Record<string, ort.Tensor>>,
  fetches: Readonly<Record<string, ort.Tensor | null>>,
): Promise<ort.InferenceSession.ReturnType> {
  try {
    return await session.run(feeds, fetches);
  } catch (cause) {
    throw gpuFault(cause);
  }
}
