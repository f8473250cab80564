/** Whatever is drafted, greedy output on the GPU equals plain decoding's, but where the target itself is undecided. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { fixedController } from '../../../engine/decode/controller.ts';
import { decode } from '../../../engine/decode/decoder.ts';
import { Session } from '../../../engine/decode/session.ts';
import type { Drafter } from '../../../engine/draft/drafter.ts';
import type { LanguageModel } from '../../../engine/model/languageModel.ts';
import { greedyVerifier } from '../../../engine/verify/greedy.ts';
import { GpuModels } from '../../gpuModels.ts';
import { Random } from '../../random.ts';
import { tinyShape, writeRandomCheckpoint } from '../../randomCheckpoint.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';
import { deepChainDrafter, noisyOracle, randomTreeDrafter } from '../decode/drafters.ts';

const models = new GpuModels();
const checkpoint = writeRandomCheckpoint(
  join(temporaryFolder(), 'tiny'),
  { ...tinyShape, modelType: 'qwen2', tied: true },
  5,
);
const NEW_TOKENS = 40;
/** Two sums of a logit in different orders are no further apart than this. */
const ROUNDING = 1e-4;

async function generate(model: LanguageModel, prompt: Int32Array, drafter?: Drafter) {
  const session = new Session(model.createKvCache(1), model.info);
  const range = { start: 0, end: prompt.length };
  const result = await decode(
    session,
    { drafter, controller: fixedController(20), verifier: greedyVerifier },
    {
      prompt: { tokens: prompt, prefix: range, suffix: { start: 0, end: 0 } },
      maxNewTokens: NEW_TOKENS,
      endTokens: new Set(),
      onToken: () => 'continue',
      signal: new AbortController().signal,
    },
  );
  session.dispose();
  return result;
}

/** By how much the plain model prefers one token to the other after `context`. */
async function margin(model: LanguageModel, context: readonly number[], one: number, other: number) {
  const kv = model.createKvCache(context.length);
  const tokens = Int32Array.from(context);
  const { logits } = await kv.forward({ tokens, rows: Int32Array.of(tokens.length - 1), want: 'logits' });
  kv.dispose();
  return Math.abs(logits![one] - logits![other]);
}

for (const precision of ['fp32', 'int8', 'int4'] as const) {
  test(`no drafter changes what comes out of the GPU, ${precision}`, async () => {
    const model = await models.open(checkpoint, { precision });
    const { vocabSize } = model.info;
    const random = new Random(17);
    const prompt = Int32Array.from({ length: 23 }, () => random.below(vocabSize));
    const { tokens: expected } = await generate(model, prompt);
    assert.equal(expected.length, NEW_TOKENS);
    let accepted = 0;
    for (const drafter of [
      randomTreeDrafter(vocabSize, random),
      noisyOracle(expected, vocabSize, random),
      deepChainDrafter(expected, vocabSize, random),
    ]) {
      const { tokens, metrics } = await generate(model, prompt, drafter);
      accepted += metrics.numAcceptedTokens;
      const parting = expected.findIndex((token, i) => tokens[i] !== token);
      if (parting === -1) continue;
      const context = [...prompt, ...expected.slice(0, parting)];
      const undecided = await margin(model, context, expected[parting], tokens[parting]);
      assert.ok(undecided < ROUNDING, `${drafter.name}: token ${parting}, decided by ${undecided}`);
    }
    assert.ok(accepted > NEW_TOKENS, 'drafts were accepted, or nothing was tested');
  });
}
