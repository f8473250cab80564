import assert from 'node:assert/strict';
import type { KvCache, LanguageModel } from '../engine/model/languageModel.ts';
import { GOLDEN_TOLERANCE, type Golden, type GoldenPrompt } from './golden.ts';

/** Holds a model, opened with every tap, against the reference: logits, residuals and greedy continuations. */
export async function assertComputesGolden(model: LanguageModel, golden: Golden): Promise<void> {
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
}

/** Evaluates a prompt in one pass and commits it. */
export async function evaluate(kv: KvCache, { tokens, lastLogits }: GoldenPrompt, { info }: LanguageModel) {
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
export function largestError(actual: Float32Array, expected: Float32Array): number {
  const last = actual.subarray(actual.length - expected.length);
  assert.equal(last.length, expected.length);
  return expected.reduce((worst, value, i) => Math.max(worst, Math.abs(value - last[i])), 0);
}
