import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KvCache, LanguageModel } from '../../../engine/model/languageModel.ts';
import { CpuModels } from '../../cpuModels.ts';
import { GOLDEN_TOLERANCE, type GoldenPrompt, goldenNames, loadGolden } from '../../golden.ts';

const models = new CpuModels();

/** Evaluates a prompt in one pass and commits it. */
async function evaluate(kv: KvCache, { tokens, lastLogits }: GoldenPrompt, { info }: LanguageModel) {
  const wanted = lastLogits.length / info.vocabSize;
  const rows = Int32Array.from({ length: wanted }, (_, i) => tokens.length - wanted + i);
  const output = await kv.forward({ tokens, rows, want: 'logits' });
  await kv.commit(Int32Array.from(tokens.keys()));
  return output;
}

async function continueGreedily(kv: KvCache, first: number, count: number): Promise<number[]> {
  const generated = [first];
  while (generated.length < count) {
    const tokens = Int32Array.of(generated.at(-1)!);
    const { argmax } = await kv.forward({ tokens, rows: Int32Array.of(0), want: 'argmax' });
    await kv.commit([0]);
    generated.push(argmax[0]);
  }
  return generated;
}

/** Largest difference to the last rows of `actual`. */
function largestError(actual: Float32Array, expected: Float32Array): number {
  const last = actual.subarray(actual.length - expected.length);
  assert.equal(last.length, expected.length);
  return expected.reduce((worst, value, i) => Math.max(worst, Math.abs(value - last[i])), 0);
}

for (const name of goldenNames) {
  test(`${name} computes what the reference computes`, async () => {
    const golden = loadGolden(name);
    const taps = Array.from({ length: golden.layers + 1 }, (_, i) => i);
    const model = await models.open(golden.dir, { precision: 'fp32', taps });
    for (const prompt of golden.prompts) {
      const kv = model.createKvCache(prompt.tokens.length);
      const { logits, taps: residuals, argmax } = await evaluate(kv, prompt, model);
      assert.ok(largestError(logits!, prompt.lastLogits) < GOLDEN_TOLERANCE, `${prompt.name}: logits`);
      assert.equal(residuals.length, prompt.residuals.length);
      for (const [tap, expected] of prompt.residuals.entries()) {
        assert.ok(largestError(residuals[tap], expected) < GOLDEN_TOLERANCE, `${prompt.name}: tap ${tap}`);
      }
      const continuation = await continueGreedily(kv, argmax.at(-1)!, prompt.greedy.length);
      assert.deepEqual(continuation, [...prompt.greedy], `${prompt.name}: greedy continuation`);
      kv.dispose();
    }
  });
}

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
