import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Precision } from '../../../engine/compile/precision.ts';
import { CpuModels } from '../../cpuModels.ts';
import { loadGolden } from '../../golden.ts';
import { assertComputesGolden, evaluate } from '../../goldenCheck.ts';
import { GpuModels } from '../../gpuModels.ts';

const gpuModels = new GpuModels();
const cpuModels = new CpuModels();

for (const name of ['llama', 'qwen2_tied', 'qwen3_tied'] as const) {
  test(`${name} computes on the GPU what the reference computes`, async () => {
    const golden = loadGolden(name);
    const taps = Array.from({ length: golden.layers + 1 }, (_, i) => i);
    await assertComputesGolden(await gpuModels.open(golden.dir, { precision: 'fp32', taps }), golden);
  });
}

/** Root mean square of the difference to the reference's logits. */
async function distance(models: GpuModels | CpuModels, precision: Precision): Promise<number> {
  const golden = loadGolden('qwen2_tied');
  const model = await models.open(golden.dir, { precision });
  const prompt = golden.prompts[1];
  const kv = model.createKvCache(prompt.tokens.length);
  const { logits } = await evaluate(kv, prompt, model);
  kv.dispose();
  const squares = logits!.map((value, i) => (value - prompt.lastLogits[i]) ** 2);
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
}

for (const precision of ['int8', 'int4'] as const) {
  test(`${precision} weights are as close to the reference on the GPU as on the CPU`, async () => {
    const onGpu = await distance(gpuModels, precision);
    const onCpu = await distance(cpuModels, precision);
    assert.ok(onGpu > 0.001, 'nothing was quantized');
    assert.ok(onGpu < 1.2 * onCpu, `${onGpu} on the GPU, ${onCpu} on the CPU`);
  });
}

const softwareOnly = { skip: process.platform !== 'linux' && 'this GPU may have float16' };

test('fp16 on a GPU without float16 is refused with a reason', softwareOnly, async () => {
  const opening = gpuModels.open(loadGolden('llama').dir, { precision: 'fp16' });
  await assert.rejects(opening, { code: 'device.unavailable', message: /does not compute in float16/ });
});
