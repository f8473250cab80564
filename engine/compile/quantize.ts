export type QuantizedBits = 4 | 8;

/** Weights in the layout of onnxruntime's MatMulNBits. */
export interface QuantizedMatrix {
  readonly packed: Uint8Array; // [outputs, blocks, blockSize * bits / 8]
  readonly scales: Float32Array; // [outputs, blocks]
  readonly blocks: number;
}

/**
 * Block-wise symmetric quantization of a matrix [outputs, inputs], row-major, for MatMulNBits with its default
 * zero point 2^(bits - 1) (onnxruntime, docs/ContribOperators.md). The last block of a row is padded with zeros.
 *
 * The scale maps the value of largest magnitude to the end of the range that reaches furthest (-2^(bits - 1)),
 * whichever its sign, as ggml's Q4_0 does: it wastes no level.
 */
export function quantizeBlocks(
  weights: Float32Array,
  outputs: number,
  inputs: number,
  bits: QuantizedBits,
  blockSize: number,
): QuantizedMatrix {
  const blocks = Math.ceil(inputs / blockSize);
  const packed = new Uint8Array((outputs * blocks * blockSize * bits) / 8);
  const scales = new Float32Array(outputs * blocks);
  for (let output = 0, block = 0; output < outputs; output++) {
    for (let start = 0; start < inputs; start += blockSize, block++) {
      const from = output * inputs + start;
      const values = weights.subarray(from, from + Math.min(blockSize, inputs - start));
      scales[block] = blockScale(values, bits);
      packBlock(values, scales[block], bits, packed, block * blockSize, blockSize);
    }
  }
  return { packed, scales, blocks };
}

function blockScale(values: Float32Array, bits: QuantizedBits): number {
  let extreme = 0;
  for (const value of values) if (Math.abs(value) > Math.abs(extreme)) extreme = value;
  return extreme / -(2 ** (bits - 1));
}

function packBlock(
  values: Float32Array,
  scale: number,
  bits: QuantizedBits,
  packed: Uint8Array,
  firstElement: number,
  blockSize: number,
): void {
  const zeroPoint = 2 ** (bits - 1);
  const inverse = scale === 0 ? 0 : 1 / scale;
  for (let i = 0; i < blockSize; i++) {
    const level = i < values.length ? Math.round(values[i] * inverse) + zeroPoint : zeroPoint;
    const clipped = Math.min(2 * zeroPoint - 1, Math.max(0, level));
    const element = firstElement + i;
    if (bits === 8) packed[element] = clipped;
    else packed[element >> 1] |= clipped << (element % 2 === 0 ? 0 : 4);
  }
}

/** The largest magnitude of a signed 8-bit level, the same on both sides. */
export const LARGEST_LEVEL = 127;

/**
 * Symmetric 8-bit quantization of a matrix [outputs, inputs] with one scale an output, transposed for onnxruntime's
 * MatMulIntegerToFloat.
 */
export function quantizeOutputs(
  weights: Float32Array,
  outputs: number,
  inputs: number,
): { readonly columns: Int8Array; readonly scales: Float32Array } {
  const columns = new Int8Array(outputs * inputs); // [inputs, outputs]
  const scales = new Float32Array(outputs);
  for (let output = 0; output < outputs; output++) {
    const row = weights.subarray(output * inputs, (output + 1) * inputs);
    const largest = row.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    scales[output] = largest / LARGEST_LEVEL;
    const inverse = largest === 0 ? 0 : LARGEST_LEVEL / largest;
    for (let input = 0; input < inputs; input++) {
      columns[input * outputs + output] = Math.round(row[input] * inverse);
    }
  }
  return { columns, scales };
}
