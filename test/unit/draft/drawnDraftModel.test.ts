import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { fixedController } from '../../../engine/decode/controller.ts';
import { decode } from '../../../engine/decode/decoder.ts';
import { Session } from '../../../engine/decode/session.ts';
import type { Drafter } from '../../../engine/draft/drafter.ts';
import { DraftModelDrafter, draftModelOutputs } from '../../../engine/draft/draftModel.ts';
import { DrawnDraftModelDrafter, drawnDraftModelOutputs } from '../../../engine/draft/drawnDraftModel.ts';
import type { CostTable } from '../../../engine/model/costTable.ts';
import type { LanguageModel } from '../../../engine/model/languageModel.ts';
import type { SamplingSettings } from '../../../engine/sampling/samplingSettings.ts';
import { rejectionVerifier } from '../../../engine/verify/rejection.ts';
import { CpuModels } from '../../cpuModels.ts';
import { Random } from '../../random.ts';
import { tinyShape, writeRandomCheckpoint } from '../../randomCheckpoint.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const models = new CpuModels();
const folder = temporaryFolder();
const { vocabSize } = tinyShape;
const hot: SamplingSettings = { temperature: 1.5, topK: 0, topP: 1, minP: 0, seed: 1 };
const table = (ms: number): CostTable => ({ nodeCounts: [1, 32], contexts: [128], ms: [[ms, 2 * ms]] });
const costs = { draft: table(0.1), target: table(1) };

const targetDir = writeRandomCheckpoint(join(folder, 'target'), tinyShape, 21);

function open(dir = targetDir, outputs = drawnDraftModelOutputs): Promise<LanguageModel> {
  return models.open(dir, { precision: 'fp32', ...outputs });
}

/** Prompts of several lengths, one after another on the same drafter. */
async function write(target: LanguageModel, drafter: Drafter, sampling = hot) {
  const random = new Random(4);
  const written: number[] = [];
  let [drafted, accepted] = [0, 0];
  for (const length of [1, 7, 60, 61]) {
    const tokens = Int32Array.from({ length }, () => random.below(vocabSize));
    const session = new Session(target.createKvCache(1), target.info);
    const result = await decode(
      session,
      { drafter, controller: fixedController(4), verifier: rejectionVerifier(sampling) },
      {
        prompt: { tokens, prefix: { start: 0, end: length }, suffix: { start: 0, end: 0 } },
        maxNewTokens: 40,
        endTokens: new Set(),
        onToken: () => 'continue',
        signal: new AbortController().signal,
      },
    );
    session.dispose();
    written.push(...result.tokens);
    drafted += result.metrics.numDraftTokens;
    accepted += result.metrics.numAcceptedTokens;
  }
  drafter.dispose();
  return { written, drafted, accepted };
}

test('the target as its own draft model has all draws accepted, however hot; what it finds best is not', async () => {
  const target = await open();
  const parts = { model: await open(), costs, target: tinyShape };
  const drawn = await write(target, new DrawnDraftModelDrafter(parts, { sampling: hot, numSteps: 4 }));
  assert.ok(drawn.drafted > 100);
  assert.equal(drawn.accepted, drawn.drafted);
  const model = await open(targetDir, draftModelOutputs({ topk: 1 }));
  const chosen = await write(target, new DraftModelDrafter({ ...parts, model }, { numSteps: 4, topk: 1 }));
  assert.ok(chosen.accepted < 0.5 * chosen.drafted);
});

test('one seed draws the same text and drafts again', async (t) => {
  // Which step the draft model has caught up by depends on time, and drawn text on what is drafted.
  t.mock.method(performance, 'now', () => 0);
  const target = await open();
  const model = await open(writeRandomCheckpoint(join(folder, 'other'), { ...tinyShape, layers: 1 }, 21));
  const run = () =>
    write(
      target,
      new DrawnDraftModelDrafter({ model, costs, target: tinyShape }, { sampling: hot, numSteps: 3 }),
    );
  assert.deepEqual(await run(), await run());
});

test('with a larger or a smaller vocabulary it drafts what both know', async () => {
  const target = await open();
  for (const size of [vocabSize - 1, vocabSize + 40]) {
    const shape = { ...tinyShape, layers: 1, vocabSize: size };
    const model = await open(writeRandomCheckpoint(join(folder, `${size}`), shape, 5));
    const { written, drafted } = await write(
      target,
      new DrawnDraftModelDrafter({ model, costs, target: tinyShape }, { sampling: hot }),
    );
    assert.ok(written.every((token) => token < vocabSize));
    assert.ok(drafted > 0);
  }
});

test('it drafts deeper the more is accepted', async () => {
  const target = await open();
  const depthWith = async (model: LanguageModel) => {
    const drafter = new DrawnDraftModelDrafter({ model, costs, target: tinyShape }, { sampling: hot });
    const { drafted, written } = await write(target, drafter);
    return drafted / written.length;
  };
  const stranger = writeRandomCheckpoint(join(folder, 'stranger'), { ...tinyShape, layers: 1 }, 77);
  const [itself, other] = [await depthWith(await open()), await depthWith(await open(stranger))];
  assert.ok(itself > 0.6 && other > 0, `${itself} and ${other}`);
});
