import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileModel } from '../../../engine/compile/compileModel.ts';
import { toFloat16 } from '../../../engine/compile/floats.ts';
import * as ort from '../../../engine/model/onnxruntime.ts';
import { loadGolden } from '../../golden.ts';
import { largestError } from '../../goldenCheck.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const cacheDir = temporaryFolder();
const int64 = (values: ArrayLike<number>, shape: readonly number[]) =>
  new ort.Tensor('int64', BigInt64Array.from(Array.from(values), BigInt), shape);
const int32 = (value: number) => new ort.Tensor('int32', Int32Array.of(value), [1]);

/** A GPU in software has no float16: the CPU's kernels show that the graph is right. */
for (const name of ['qwen2_tied', 'qwen3_tied'] as const) {
  test(`the graph of ${name} in float16 computes what the reference computes, as far as float16 reaches`, async () => {
    const golden = loadGolden(name);
    const { tokens, lastLogits } = golden.prompts[1];
    const compiled = await compileModel(golden.dir, {
      precision: 'fp16',
      taps: [],
      device: 'webgpu',
      cacheDir,
    });
    const { layers, kvHeads, headDim } = compiled.checkpoint.architecture;
    const [size, capacity] = [tokens.length, 32];
    const causal = Float32Array.from({ length: size ** 2 }, (_, i) =>
      i % size <= Math.floor(i / size) ? 0 : -30000,
    );
    const feeds: Record<string, ort.Tensor> = {
      tokens: int64(tokens, [1, size]),
      positions: int64(
        tokens.map((_, i) => i),
        [1, size],
      ),
      rows: int64([size - 4, size - 3, size - 2, size - 1], [4]),
      tree_mask: new ort.Tensor('float16', toFloat16(causal), [1, 1, size, size]),
      mask_pads: int64(new Int32Array(8), [8]),
      last_row: int32(size - 1),
      rows_in_all: int32(size),
    };
    const rowShape = [1, kvHeads, capacity, headDim];
    for (let layer = 0; layer < layers; layer++) {
      for (const part of ['keys', 'values']) {
        const empty = new Uint16Array(kvHeads * capacity * headDim);
        feeds[`${part}_${layer}`] = new ort.Tensor('float16', empty, rowShape);
      }
    }
    const session = await ort.InferenceSession.create(compiled.graphFile, { executionProviders: ['cpu'] });
    const { logits, keys_out_0: keys } = await session.run(feeds);
    const error = largestError(logits.data as Float32Array, lastLogits);
    assert.ok(error < 0.1 && error > 1e-3, `off by ${error}`);
    assert.equal(keys.type, 'float16');
    await session.release();
  });
}
