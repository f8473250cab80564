import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CpuModels } from '../../cpuModels.ts';
import { GOLDEN_TOLERANCE, goldenNames, loadGolden } from '../../golden.ts';
import { assertComputesGolden, evaluate, largestError } from '../../goldenCheck.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const models = new CpuModels();

for (const name of goldenNames) {
  test(`${name} computes what the reference computes`, async () => {
    const golden = loadGolden(name);
    const taps = Array.from({ length: golden.layers + 1 }, (_, i) => i);
    const model = await models.open(golden.dir, { precision: 'fp32', taps });
    await assertComputesGolden(model, golden);
  });
}

test('MiMo is Qwen2 by another name', async () => {
  const golden = loadGolden('qwen2_tied');
  const dir = join(temporaryFolder(), 'mimo');
  cpSync(golden.dir, dir, { recursive: true });
  const config = JSON.parse(readFileSync(join(dir, 'config.json'), 'utf8'));
  writeFileSync(join(dir, 'config.json'), JSON.stringify({ ...config, model_type: 'mimo' }));
  const taps = Array.from({ length: golden.layers + 1 }, (_, i) => i);
  await assertComputesGolden(await models.open(dir, { precision: 'fp32', taps }), golden);
});

test('taps come in the order they were asked for', async () => {
  const golden = loadGolden('llama');
  const model = await models.open(golden.dir, { precision: 'fp32', taps: [3, 1] });
  const [prompt] = golden.prompts;
  const { taps } = await evaluate(model.createKvCache(1), prompt, model);
  assert.ok(largestError(taps[0], prompt.residuals[3]) < GOLDEN_TOLERANCE);
  assert.ok(largestError(taps[1], prompt.residuals[1]) < GOLDEN_TOLERANCE);
  assert.ok(largestError(taps[0], prompt.residuals[1]) > GOLDEN_TOLERANCE);
});

test('the comparison fails for another model', async () => {
  const [, prompt] = loadGolden('llama').prompts;
  const model = await models.open(loadGolden('llama_linear_rope').dir, { precision: 'fp32' });
  const { logits } = await evaluate(model.createKvCache(32), prompt, model);
  assert.ok(largestError(logits!, prompt.lastLogits) > GOLDEN_TOLERANCE);
});
