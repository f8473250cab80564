import type { DecoderGraphOptions } from './decoderGraph.ts';
import { float32Linear, quantizedLinear } from './linear.ts';

/**
 * fp32 is the checkpoint as it is, for references and tests. The quantized ones are what runs: every kernel of theirs
 * treats a row alone, so a batch of drafts never changes the target's logits.
 */
export const precisions = ['fp32', 'int8', 'int4'] as const;
export type Precision = (typeof precisions)[number];

export function isPrecision(value: string): value is Precision {
  return (precisions as readonly string[]).includes(value);
}

// Block sizes by measurement: 8 bits run fastest in blocks of 64; 4 bits lose least in blocks of 32.
const int8 = quantizedLinear(8, 64);
const int4 = quantizedLinear(4, 32);

export const kernels: Readonly<Record<Precision, Omit<DecoderGraphOptions, 'taps'>>> = {
  fp32: { linear: float32Linear, outputLinear: float32Linear, embedding: 'float32' },
  int8: { linear: int8, outputLinear: int8, embedding: 'float16' },
  int4: { linear: int4, outputLinear: int8, embedding: 'float16' },
};
