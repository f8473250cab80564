import { SlipstreamError } from '../errors.ts';
import { type GpuDecoder, GpuKvCache } from './gpuKvCache.ts';

/** Small batches take the kernels for decoding, whatever the device. */
const SHORT_RUN = 16;
/** Longer than any batch that a kernel for decoding takes. */
const CHECKED_TOKENS = 48;
/** Share of the largest logit by which sums in another order may differ, in the coarsest precision. */
const TOLERANCE = 0.02;

/**
 * Evaluates a few tokens in one long run, in short ones, and the last one alone, and compares. The kernel for long
 * batches takes for granted that a subgroup of the GPU has 8 threads or more, and sums wrongly where it has fewer: software
 * adapters, some phones. Such a device gets short runs only.
 *
 * @returns how many tokens a run may evaluate
 * @throws SlipstreamError device.unavailable when short runs disagree as well
 */
export async function safeTokensPerRun(decoder: Omit<GpuDecoder, 'tokensPerRun'>): Promise<number> {
  const { vocabSize, contextLength } = decoder.compiled.checkpoint.architecture;
  const size = Math.min(CHECKED_TOKENS, contextLength);
  const tokens = Int32Array.from({ length: size }, (_, i) => (i * 7919 + 1) % vocabSize);
  const short = { ...decoder, tokensPerRun: SHORT_RUN };
  const expected = await lastLogits(short, [tokens]);
  const alone = await lastLogits(short, [tokens.subarray(0, -1), tokens.subarray(-1)]);
  if (!alike(expected, alone)) {
    const message = 'The GPU, or its driver, computes the model wrongly; an update of the driver may help.';
    throw new SlipstreamError('device.unavailable', message);
  }
  const whole = { ...decoder, tokensPerRun: Number.POSITIVE_INFINITY };
  return alike(expected, await lastLogits(whole, [tokens])) ? Number.POSITIVE_INFINITY : SHORT_RUN;
}

async function lastLogits(decoder: GpuDecoder, batches: readonly Int32Array[]): Promise<Float32Array> {
  const cache = new GpuKvCache(decoder, CHECKED_TOKENS);
  let logits: Float32Array = new Float32Array(0);
  try {
    for (const tokens of batches) {
      const output = await cache.forward({ tokens, rows: Int32Array.of(tokens.length - 1), want: 'logits' });
      await cache.commit(tokens.map((_, row) => row));
      logits = output.logits!;
    }
    return logits;
  } finally {
    cache.dispose();
  }
}

/** False as well where one is not a number. */
function alike(a: Float32Array, b: Float32Array): boolean {
  let largest = 0;
  for (const value of a) largest = Math.max(largest, Math.abs(value));
  return a.every((value, i) => Math.abs(value - b[i]) <= TOLERANCE * largest);
}
