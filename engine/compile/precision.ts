import { SlipstreamError } from '../errors.ts';
import { cpuAttention, type KvType } from './cpuAttention.ts';
import type { DecoderKernels } from './decoderGraph.ts';
import { float16Embedding, float32Embedding, quantizedEmbedding, widenedEmbedding } from './embedding.ts';
import { gpuAttention } from './gpuAttention.ts';
import {
  float32Linear,
  type LinearKernel,
  quantizedLinear,
  rowWiseLinear,
  transposedLinear,
} from './linear.ts';

export type Device = 'cpu' | 'webgpu';

/**
 * fp32 is the checkpoint as it is, for references and tests. The others are what runs. On the CPU every kernel of theirs
 * treats a row alone, so a batch of drafts never changes the target's logits; on a GPU it may, by a rounding of floats.
 */
export const precisions = ['fp32', 'fp16', 'int8', 'int4'] as const;
export type Precision = (typeof precisions)[number];

/**
 * Rows that products are made for: those that a target verifies together, or the one that a drafter goes on from. The
 * latter may differ in the last bit with the number of rows, as drafts may.
 */
export type ProductRows = 'several' | 'one';

/** A product with a bias and fewer weights than this gains less by a scale a row than the small operators for it cost. */
const SMALL_WITH_BIAS = 2 ** 18;
const int8InBlocks = quantizedLinear(8, 64, 'int8');
// One operator instead of six: faster for a lone row, slower from four rows on (docs/decisions/0010).
const int8OfOneRow = quantizedLinear(8, 256, 'int8');
const int8: LinearKernel = (graph, x, linear) => {
  const isSmall = linear.outputs * linear.inputs < SMALL_WITH_BIAS;
  return (linear.bias && isSmall ? int8InBlocks : rowWiseLinear)(graph, x, linear);
};
// Block sizes by measurement: 8 bits run fastest in blocks of 64; 4 bits lose least in blocks of 32.
const int4 = quantizedLinear(4, 32, 'int8');
// Activations stay floats on a GPU: kernels that quantize them are chosen there by the size of the batch. Blocks of 32 have
// a kernel for several rows; others are read once a row.
const gpuInt8 = quantizedLinear(8, 32, 'float');
const gpuInt4 = quantizedLinear(4, 32, 'float');

const cpu = (precision: Precision) =>
  ({ activations: 'float32', attention: cpuAttention(cpuKvType(precision)), gathersIntegers: true }) as const;
const gpu = { activations: 'float32', attention: gpuAttention('float32'), gathersIntegers: false } as const;

// Not every GPU computes in float16: all but fp16 do without.
const kernels: Readonly<Record<Device, Partial<Readonly<Record<Precision, DecoderKernels>>>>> = {
  cpu: {
    fp32: { ...cpu('fp32'), linear: float32Linear, outputLinear: float32Linear, embedding: float32Embedding },
    int8: { ...cpu('int8'), linear: int8, outputLinear: int8, embedding: widenedEmbedding },
    int4: { ...cpu('int4'), linear: int4, outputLinear: int8, embedding: widenedEmbedding },
  },
  webgpu: {
    fp32: {
      ...gpu,
      linear: transposedLinear('float32'),
      outputLinear: transposedLinear('float32'),
      embedding: float32Embedding,
    },
    fp16: {
      activations: 'float16',
      attention: gpuAttention('float16'),
      gathersIntegers: false,
      linear: transposedLinear('float16'),
      outputLinear: transposedLinear('float16'),
      embedding: float16Embedding,
    },
    int8: { ...gpu, linear: gpuInt8, outputLinear: gpuInt8, embedding: quantizedEmbedding },
    int4: { ...gpu, linear: gpuInt4, outputLinear: gpuInt8, embedding: quantizedEmbedding },
  },
};

/** On the CPU, instead of those above. */
const kernelsOfOneRow: Partial<Readonly<Record<Precision, Partial<DecoderKernels>>>> = {
  int8: { linear: int8OfOneRow, outputLinear: int8OfOneRow },
  int4: { outputLinear: int8OfOneRow },
};

/** What the CPU keeps KV rows in: half of the bytes wherever weights are rounded anyway. */
export function cpuKvType(precision: Precision): KvType {
  return precision === 'fp32' ? 'float32' : 'float16';
}

export function runsOn(device: Device, precision: Precision): boolean {
  return kernels[device][precision] !== undefined;
}

/** @throws SlipstreamError usage when the device cannot run the precision */
export function decoderKernels(
  device: Device,
  precision: Precision,
  rows: ProductRows = 'several',
): DecoderKernels {
  const found = kernels[device][precision];
  if (found) return device === 'cpu' && rows === 'one' ? { ...found, ...kernelsOfOneRow[precision] } : found;
  const possible = Object.keys(kernels[device]).join(', ');
  throw new SlipstreamError('usage', `${precision} does not run on the device ${device}: use ${possible}.`);
}
