import { SlipstreamError } from '../errors.ts';

/**
 * What onnxruntime says about a GPU, coded. A fault that is not understood counts as a lost device: the caller goes on
 * with the CPU either way.
 */
export function gpuFault(cause: unknown): SlipstreamError {
  if (cause instanceof SlipstreamError) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  if (
    /out of (device |host )?memory|bad_alloc|failed to allocate|OutOfMemory|OUT_OF_(DEVICE|HOST)_MEMORY/i.test(
      message,
    )
  ) {
    return new SlipstreamError(
      'outOfMemory',
      'The GPU has not enough memory for this model; close what else uses it, or choose a smaller model.',
      { cause },
    );
  }
  if (/failed to get a WebGPU (adapter|device)|no supported adapters/i.test(message)) {
    return new SlipstreamError('device.unavailable', 'No GPU was found that can be used through WebGPU.', {
      cause,
    });
  }
  if (/requires f16/i.test(message)) {
    return new SlipstreamError(
      'device.unavailable',
      'This GPU does not compute in float16; choose another precision than fp16.',
      { cause },
    );
  }
  return new SlipstreamError('device.lost', `The GPU stopped working: ${firstLine(message)}`, { cause });
}

function firstLine(message: string): string {
  return message.trim().split('\n', 1)[0];
}
