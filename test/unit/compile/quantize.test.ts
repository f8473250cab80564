import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { GraphBuilder } from '../../../engine/compile/graphBuilder.ts';
import { type LinearKernel, quantizedLinear, rowWiseLinear } from '../../../engine/compile/linear.ts';
import { writeOnnxModel } from '../../../engine/compile/onnxModel.ts';
import {
  type QuantizedBits,
  type QuantizedMatrix,
  quantizeBlocks,
  quantizeOutputs,
} from '../../../engine/compile/quantize.ts';
import { WeightWriter } from '../../../engine/compile/weightWriter.ts';
import { createCpuSession } from '../../../engine/model/cpuSession.ts';
import * as ort from '../../../engine/model/onnxruntime.ts';
import { Random } from '../../random.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const folder = temporaryFolder();

interface Shape {
  readonly outputs: number;
  readonly inputs: number;
  readonly bits: QuantizedBits;
  readonly blockSize: number;
}

/** The layout as the operator's documentation describes it, element by element. */
function dequantize(
  { packed, scales, blocks }: QuantizedMatrix,
  { outputs, inputs, bits, blockSize }: Shape,
) {
  const zero = 2 ** (bits - 1);
  const weight = new Float32Array(outputs * inputs);
  for (let row = 0; row < outputs; row++) {
    for (let column = 0; column < inputs; column++) {
      const block = row * blocks + Math.floor(column / blockSize);
      const element = block * blockSize + (column % blockSize);
      const byte = packed[Math.floor((element * bits) / 8)];
      const level = bits === 8 ? byte : element % 2 === 0 ? byte & 15 : byte >> 4;
      weight[row * inputs + column] = (level - zero) * scales[block];
    }
  }
  return weight;
}

const shape = fc.record({
  outputs: fc.integer({ min: 1, max: 5 }),
  inputs: fc.integer({ min: 1, max: 150 }),
  bits: fc.constantFrom<QuantizedBits[]>(4, 8),
  blockSize: fc.constantFrom(16, 32, 64),
});

test('a value comes back within half a step, the end that wastes no level within one', () => {
  fc.assert(
    fc.property(shape, fc.nat(), fc.constantFrom(1e-30, 0.01, 1, 1e30), (shape, seed, size) => {
      const { outputs, inputs, bits, blockSize } = shape;
      const random = new Random(seed);
      const weights = Float32Array.from({ length: outputs * inputs }, () => size * (2 * random.next() - 1));
      const quantized = quantizeBlocks(weights, outputs, inputs, bits, blockSize);
      const back = dequantize(quantized, shape);
      for (let row = 0; row < outputs; row++) {
        for (let start = 0; start < inputs; start += blockSize) {
          const [from, to] = [row * inputs + start, row * inputs + Math.min(inputs, start + blockSize)];
          const block = weights.subarray(from, to);
          const step = block.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / 2 ** (bits - 1);
          for (const [i, value] of block.entries()) {
            const clipped = Math.abs(value) > (2 ** (bits - 1) - 1) * step;
            assert.ok(Math.abs(back[from + i] - value) <= (clipped ? 1 : 0.5) * step * 1.0001);
          }
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('zeros stay zeros, and so does what pads the last block', () => {
  const { packed, scales } = quantizeBlocks(new Float32Array(40), 1, 40, 8, 32);
  assert.equal(packed.length, 64);
  assert.ok(packed.every((level) => level === 128));
  assert.ok(scales.every((scale) => scale === 0));
});

/** One dense layer as a graph of its own, in the runtime. */
async function runLinear(
  kernel: LinearKernel,
  shape: Pick<Shape, 'outputs' | 'inputs'>,
  weight: Float32Array,
  bias: Float32Array | undefined,
  x: Float32Array,
) {
  const dir = mkdtempSync(join(folder, 'linear-'));
  const handle = await open(join(dir, 'weights.bin'), 'w');
  const graph = new GraphBuilder(new WeightWriter(handle, 'weights.bin'));
  const input = graph.input('x', 'float32', [1, 'T', shape.inputs]);
  const y = await kernel(graph, input, { name: 'layer', ...shape, weight, bias });
  graph.output('y', y, 'float32', [1, 'T', shape.outputs]);
  await writeFile(join(dir, 'model.onnx'), writeOnnxModel(graph.finish()));
  await handle.close();
  const session = await createCpuSession(join(dir, 'model.onnx'), 1);
  const feed = new ort.Tensor('float32', x, [1, x.length / shape.inputs, shape.inputs]);
  const output = (await session.run({ x: feed })).y.data as Float32Array;
  await session.release();
  return output;
}

for (const bits of [4, 8] satisfies QuantizedBits[]) {
  test(`the runtime reads ${bits}-bit weights, scales and biases as they are meant`, async () => {
    const random = new Random(bits);
    for (const [inputs, blockSize] of [
      [64, 32],
      [80, 32],
      [100, 64],
      // What drafters have: blocks as wide as a row, and wider.
      [300, 256],
    ]) {
      const shape = { outputs: 24, inputs, bits, blockSize };
      const weight = Float32Array.from({ length: 24 * inputs }, () => random.next() - 0.3);
      const bias = Float32Array.from({ length: 24 }, () => random.next());
      const rounded = dequantize(quantizeBlocks(weight, 24, inputs, bits, blockSize), shape);
      // One unit vector a row: the product is a column of the weights.
      const x = new Float32Array(inputs * inputs);
      for (let i = 0; i < inputs; i++) x[i * inputs + i] = 1;
      for (const b of [undefined, bias]) {
        const y = await runLinear(quantizedLinear(bits, blockSize, 'int8'), shape, weight, b, x);
        for (let i = 0; i < inputs; i++) {
          for (let output = 0; output < 24; output++) {
            const expected = rounded[output * inputs + i] + (b?.[output] ?? 0);
            assert.ok(Math.abs(y[i * 24 + output] - expected) < 1e-4, `${inputs}: ${i}, ${output}`);
          }
        }
      }
    }
  });
}

/** weight, x // [outputs, inputs], [rows, inputs] -> [rows, outputs], in float64 */
function product(weight: ArrayLike<number>, x: Float32Array, inputs: number): number[] {
  const rows = Array.from({ length: x.length / inputs }, (_, row) =>
    x.subarray(row * inputs, (row + 1) * inputs),
  );
  const outputs = weight.length / inputs;
  return rows.flatMap((row) =>
    Array.from({ length: outputs }, (_, output) =>
      row.reduce((sum, value, i) => sum + value * weight[output * inputs + i], 0),
    ),
  );
}

test('row-wise: every product is within what rounding a row and an output to 8 bits allows', async () => {
  const random = new Random(5);
  for (const [inputs, outputs] of [
    [64, 24],
    [100, 7],
    [704, 33],
  ]) {
    const weight = Float32Array.from({ length: outputs * inputs }, () => random.next() - 0.3);
    const bias = Float32Array.from({ length: outputs }, () => random.next());
    // Rows of very different size: none may take its scale from another.
    const x = Float32Array.from(
      { length: 5 * inputs },
      (_, i) => (random.next() - 0.5) * 10 ** Math.floor(i / inputs),
    );
    for (const b of [undefined, bias]) {
      const y = await runLinear(rowWiseLinear, { outputs, inputs }, weight, b, x);
      for (const [i, exact] of product(weight, x, inputs).entries()) {
        const size = 10 ** Math.floor(i / outputs);
        const error = Math.abs(y[i] - exact - (b?.[i % outputs] ?? 0));
        assert.ok(error < (0.02 * Math.sqrt(inputs) + 1e-6) * size, `${inputs}, ${i}: ${error}`);
      }
    }
  }
});

test('row-wise: sums of the largest levels lose nothing', async () => {
  const shape = { outputs: 32, inputs: 704 };
  const weight = new Float32Array(32 * 704).fill(1);
  const x = new Float32Array(4 * 704).fill(1);
  for (const y of await runLinear(rowWiseLinear, shape, weight, undefined, x)) {
    assert.ok(Math.abs(y - 704) < 0.01, `${y}`);
  }
});

test('row-wise: a row of zeros gives the bias, beside other rows and alone', async () => {
  const shape = { outputs: 8, inputs: 32 };
  const weight = Float32Array.from({ length: 8 * 32 }, (_, i) => (i % 5) - 2);
  const bias = Float32Array.from({ length: 8 }, (_, i) => i);
  const x = new Float32Array(2 * 32).fill(1, 32);
  assert.deepEqual([...(await runLinear(rowWiseLinear, shape, weight, bias, x.subarray(0, 32)))], [...bias]);
  assert.deepEqual([...(await runLinear(rowWiseLinear, shape, weight, bias, x))].slice(0, 8), [...bias]);
});

test('an output of zeros stays zeros, and the largest weight is the largest level', () => {
  const { columns, scales } = quantizeOutputs(Float32Array.of(0, 0, 0, 1, -4, 2), 2, 3);
  assert.deepEqual([...columns], [0, 32, 0, -127, 0, 64]);
  assert.deepEqual([...scales], [0, Math.fround(4 / 127)]);
});
