import type { FloatType, GraphBuilder, Value } from './graphBuilder.ts';
import { LARGEST_LEVEL, type QuantizedBits, quantizeBlocks, quantizeOutputs } from './quantize.ts';

/** Of unsigned 8-bit activations. */
const ZERO_POINT = 128;

/** A dense layer: y = x weight^T + bias. */
export interface Linear {
  readonly name: string;
  readonly outputs: number;
  readonly inputs: number;
  readonly weight: Float32Array; // [outputs, inputs], as checkpoints store it
  readonly bias?: Float32Array | undefined; // [outputs]
}

/** Layers that read the same input as one, so that one product serves them all. All of them have a bias, or none. */
export function stackLinears(layers: readonly Linear[]): Linear {
  const hasBias = layers[0].bias !== undefined;
  return {
    name: layers.map(({ name }) => name).join('+'),
    outputs: layers.reduce((sum, { outputs }) => sum + outputs, 0),
    inputs: layers[0].inputs,
    weight: joined(layers.map(({ weight }) => weight)),
    bias: hasBias ? joined(layers.map(({ bias }) => bias!)) : undefined,
  };
}

function joined(parts: readonly Float32Array[]): Float32Array {
  if (parts.length === 1) return parts[0];
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** Writes a dense layer's weights and nodes. x // [..., inputs] -> [..., outputs] */
export type LinearKernel = (graph: GraphBuilder, x: Value, linear: Linear) => Promise<Value>;

/** float32 weights as stored; FusedMatMul reads them transposed. CPU only. */
export const float32Linear: LinearKernel = async (graph, x, { name, outputs, inputs, weight, bias }) => {
  const b = await graph.weight(name, 'float32', [outputs, inputs], weight);
  const product = graph.op('FusedMatMul', [x, b], { transB: 1 });
  if (!bias) return product;
  return graph.op('Add', [product, await graph.weight(`${name}.bias`, 'float32', [outputs], bias)]);
};

/** Weights as floats, transposed on disk: WebGPU has a kernel for plain MatMul only. */
export function transposedLinear(type: FloatType): LinearKernel {
  return async (graph, x, { name, outputs, inputs, weight, bias }) => {
    const b = await graph.floatWeight(name, type, [inputs, outputs], transpose(weight, outputs, inputs));
    const product = graph.op('MatMul', [x, b]);
    if (!bias) return product;
    return graph.op('Add', [product, await graph.floatWeight(`${name}.bias`, type, [outputs], bias)]);
  };
}

function transpose(matrix: Float32Array, rows: number, columns: number): Float32Array {
  const out = new Float32Array(matrix.length);
  for (let row = 0, i = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, i++) out[column * rows + row] = matrix[i];
  }
  return out;
}

/**
 * 4- or 8-bit weights with a float32 scale a block. With `int8` activations are quantized row by row inside the kernel
 * (accuracy level 4) and summed as integers, so a row's result does not depend on the rows beside it: what is verified together with
 * drafts is bit for bit what would have been computed alone. (DynamicQuantizeLinear shares a scale across rows
 * and would let drafts change the target's logits.) With `float` the kernel widens the weights instead.
 */
export function quantizedLinear(
  bits: QuantizedBits,
  blockSize: number,
  activations: 'int8' | 'float',
): LinearKernel {
  return async (graph, x, { name, outputs, inputs, weight, bias }) => {
    const { packed, scales, blocks } = quantizeBlocks(weight, outputs, inputs, bits, blockSize);
    const values = [
      x,
      await graph.weight(name, 'uint8', [outputs, blocks, (blockSize * bits) / 8], packed),
      await graph.weight(`${name}.scales`, 'float32', [outputs, blocks], scales),
    ];
    if (bias) values.push('', '', await graph.weight(`${name}.bias`, 'float32', [outputs], bias));
    return graph.op('MatMulNBits', values, {
      K: inputs,
      N: outputs,
      bits,
      block_size: blockSize,
      accuracy_level: activations === 'int8' ? 4 : 0,
    });
  };
}

/**
 * 8-bit weights with a scale an output, and activations rounded to 8 bits with a scale a row. What is summed is integers,
 * so a row's result does not depend on the rows beside it, as with `quantizedLinear`; the scales are a few small operators
 * around the product, which cost a lone row some microseconds and are forgotten from four rows on.
 *
 * A row of zeros has no scale: whatever it is rounded to is zero again once it is multiplied by the row's largest value.
 */
export const rowWiseLinear: LinearKernel = async (graph, x, { name, outputs, inputs, weight, bias }) => {
  const { columns, scales } = quantizeOutputs(weight, outputs, inputs);
  const level = graph.floats([1 / LARGEST_LEVEL]);
  const zeroPoint = graph.bytes([ZERO_POINT]);
  const largest = graph.op('ReduceMax', [graph.op('Abs', [x]), graph.ints([-1])]); // [..., 1]
  const levels = graph.op('QuantizeLinear', [graph.op('Div', [x, largest]), level, zeroPoint]);
  const product = graph.op('MatMulIntegerToFloat', [
    levels,
    await graph.weight(name, 'int8', [inputs, outputs], columns),
    level,
    await graph.weight(`${name}.scales`, 'float32', [outputs], scales),
    zeroPoint,
  ]);
  const y = graph.op('Mul', [product, largest]);
  return bias ? graph.op('Add', [y, await graph.weight(`${name}.bias`, 'float32', [outputs], bias)]) : y;
};
