/** Sampling through the real decoder and real models: drafts change neither the text nor, when drawn, its distribution. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { fixedController } from '../../../engine/decode/controller.ts';
import { type DecodeResult, decode } from '../../../engine/decode/decoder.ts';
import { Session } from '../../../engine/decode/session.ts';
import type { Drafter } from '../../../engine/draft/drafter.ts';
import { DrawnDraftModelDrafter, drawnDraftModelOutputs } from '../../../engine/draft/drawnDraftModel.ts';
import { NgramDrafter } from '../../../engine/draft/ngram.ts';
import { SUCCESSORS } from '../../../engine/draft/recycledSource.ts';
import { RecyclingDrafter } from '../../../engine/draft/recycling.ts';
import { embeddedModelDir } from '../../../engine/embeddedModel.ts';
import type { CostTable } from '../../../engine/model/costTable.ts';
import type { LanguageModel } from '../../../engine/model/languageModel.ts';
import { loadTokenizer } from '../../../engine/model/tokenizer.ts';
import type { SamplingSettings } from '../../../engine/sampling/samplingSettings.ts';
import { ROOT } from '../../../engine/tree/tokenTree.ts';
import { TokenTreeBuilder } from '../../../engine/tree/tokenTreeBuilder.ts';
import { createVerifier } from '../../../engine/verify/createVerifier.ts';
import { rejectionVerifier } from '../../../engine/verify/rejection.ts';
import type { Verifier } from '../../../engine/verify/verifier.ts';
import { CpuModels } from '../../cpuModels.ts';
import { Random } from '../../random.ts';
import { tinyShape, writeRandomCheckpoint } from '../../randomCheckpoint.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';
import { deepChainDrafter, noisyOracle, randomTreeDrafter, wideDrafter } from '../decode/drafters.ts';
import { misfit } from '../sampling/goodnessOfFit.ts';
import { plainDistribution } from '../sampling/plainDistribution.ts';
import { textbook, verifierWith, wrongForChosen, wrongForDrawn } from './rejectionRules.ts';
import { allTexts, textIndex } from './tableModel.ts';

const models = new CpuModels();
const folder = temporaryFolder();
const settings: SamplingSettings = { temperature: 0.8, topK: 0, topP: 0.95, minP: 0, seed: 0 };

interface Written {
  readonly model: LanguageModel;
  readonly prompt: Int32Array;
  readonly maxNewTokens: number;
}

async function write(
  { model, prompt, maxNewTokens }: Written,
  verifier: Verifier,
  drafter?: Drafter,
  session = new Session(model.createKvCache(1), model.info),
): Promise<DecodeResult> {
  return decode(
    session,
    { drafter, controller: fixedController(16), verifier },
    {
      prompt: { tokens: prompt, prefix: { start: 0, end: prompt.length }, suffix: { start: 0, end: 0 } },
      maxNewTokens,
      endTokens: new Set(),
      onToken: () => 'continue',
      signal: new AbortController().signal,
    },
  );
}

function someTokens({ info }: LanguageModel, length: number): Int32Array {
  const random = new Random(length);
  return Int32Array.from({ length }, () => random.below(info.vocabSize));
}

/** Text by text: with every drafter of chosen tokens, what the same seed writes without drafts. */
async function assertSameTexts(written: Written, asked: SamplingSettings, seeds: number): Promise<void> {
  const { vocabSize } = written.model.info;
  const texts = new Set<string>();
  let accepted = 0;
  for (let seed = 0; seed < seeds; seed++) {
    const seeded = { ...asked, seed };
    const { tokens } = await write(written, rejectionVerifier(seeded));
    texts.add(tokens.join());
    const random = new Random(seed);
    for (const drafter of [
      new NgramDrafter({ vocabSize, specialTokenIds: new Set() }),
      new RecyclingDrafter(vocabSize),
      randomTreeDrafter(vocabSize, random),
      noisyOracle(tokens, vocabSize, random),
      deepChainDrafter(tokens, vocabSize, random),
      wideDrafter(vocabSize, random),
    ]) {
      const result = await write(written, rejectionVerifier(seeded), drafter);
      assert.deepEqual(result.tokens, tokens, `${drafter.name}, seed ${seed}`);
      accepted += result.metrics.numAcceptedTokens;
    }
  }
  assert.ok(accepted > seeds * written.maxNewTokens, 'drafts were accepted, or nothing was tested');
  assert.ok(texts.size > 1, 'the seeds write different texts');
}

test('one seed writes one text with any drafter: a random model', async () => {
  const model = await models.open(writeRandomCheckpoint(join(folder, 'tiny'), tinyShape, 3), {
    precision: 'int8',
    successors: SUCCESSORS,
  });
  const written = { model, prompt: someTokens(model, 30), maxNewTokens: 24 };
  await assertSameTexts(written, settings, 12);
  await assertSameTexts(written, { ...settings, topK: 8, minP: 0.05, topP: 1 }, 12);
});

test('one seed writes one text with any drafter: the embedded model on code', async () => {
  const tokenizer = await loadTokenizer(embeddedModelDir);
  const model = await models.open(embeddedModelDir, {
    precision: 'int8',
    threads: 2,
    successors: SUCCESSORS,
  });
  const prompt = tokenizer.encode(
    'export function add(a: number, b: number) {\n  return a + b;\n}\n\nexport ',
  );
  await assertSameTexts({ model, prompt, maxNewTokens: 24 }, settings, 3);
});

test('temperature 0 and top-k 1 are greedy', async () => {
  const model = await models.open(writeRandomCheckpoint(join(folder, 'greedy'), tinyShape, 4), {
    precision: 'fp32',
  });
  const written = { model, prompt: someTokens(model, 12), maxNewTokens: 32 };
  const oracle = (tokens: readonly number[]) => noisyOracle(tokens, model.info.vocabSize, new Random(2));
  const { tokens } = await write(written, createVerifier({ ...settings, temperature: 0 }));
  for (const verifier of [
    createVerifier({ ...settings, topK: 1 }),
    createVerifier({ ...settings, temperature: 1e-9, topP: 1 }),
  ]) {
    assert.deepEqual((await write(written, verifier, oracle(tokens))).tokens, tokens);
  }
});

/** Draft passes that cost next to nothing. */
const table = (ms: number): CostTable => ({ nodeCounts: [1, 32], contexts: [128], ms: [[ms, 2 * ms]] });
const costs = { draft: table(0.1), target: table(1) };
const FEW = 4;
const LENGTH = 3;
const TEXTS = 1500;

/** Draws chains from a model that is not the target, and knows a token more. */
async function drawingDrafter(sampling: SamplingSettings): Promise<Drafter> {
  const dir = writeRandomCheckpoint(
    join(folder, 'draft'),
    { ...tinyShape, layers: 1, vocabSize: FEW + 1 },
    9,
  );
  const model = await models.open(dir, { precision: 'int8', ...drawnDraftModelOutputs });
  return new DrawnDraftModelDrafter(
    { model, costs, target: { vocabSize: FEW, contextLength: model.info.contextLength } },
    { sampling, numSteps: LENGTH },
  );
}

/** Three siblings and the same under each, always in this order: what wrong rules make most of. */
function sameTreeDrafter(): Drafter {
  const builder = new TokenTreeBuilder();
  for (const token of [0, 1, 2]) {
    const parent = builder.add(ROOT, token, -0.5, 'document');
    for (const next of [2, 1, 0]) builder.add(parent, next, -0.5, 'document');
  }
  return { name: 'same trees', bytes: 0, propose: () => builder.build(12), observe() {}, dispose() {} };
}

/** A real model of few tokens, and what it gives to every text of three. */
async function modelOfFewTokens() {
  const dir = writeRandomCheckpoint(join(folder, 'few'), { ...tinyShape, vocabSize: FEW }, 5);
  const model = await models.open(dir, { precision: 'int8' });
  const prompt = someTokens(model, 6);
  const rows = new Map<string, Float32Array>();
  const kv = model.createKvCache(1);
  for (const text of [0, 1, 2].flatMap((length) => allTexts(FEW, length))) {
    kv.truncate(0);
    const tokens = Int32Array.from([...prompt, ...text]);
    const { logits } = await kv.forward({ tokens, rows: Int32Array.of(tokens.length - 1), want: 'logits' });
    rows.set(text.join(), logits!);
  }
  kv.dispose();
  return { written: { model, prompt, maxNewTokens: LENGTH }, rows };
}

test('whole texts are distributed as the model says, and through wrong rules they are not', async () => {
  const { written, rows } = await modelOfFewTokens();
  const asked = { ...settings, temperature: 3, topP: 1 };
  const probs = allTexts(FEW, LENGTH).map((text) =>
    text.reduce((product, token, i) => {
      return product * plainDistribution(rows.get(text.slice(0, i).join())!, asked)[token];
    }, 1),
  );
  const misfitOf = async (verifier: Verifier, drafter?: Drafter) => {
    const session = new Session(written.model.createKvCache(1), written.model.info);
    const counts = Array(FEW ** LENGTH).fill(0);
    for (let i = 0; i < TEXTS; i++) {
      const { tokens } = await write(written, verifier, drafter, session);
      counts[textIndex(FEW, tokens)]++;
    }
    session.dispose();

    return misfit(counts, probs);
  };
  const random = randomTreeDrafter(FEW, new Random(6));
  assert.ok((await misfitOf(rejectionVerifier(asked))) < 4, 'no drafts');
  assert.ok((await misfitOf(rejectionVerifier(asked), random)) < 4, 'random trees');
  assert.ok((await misfitOf(rejectionVerifier(asked), await drawingDrafter(asked))) < 4, 'drawn chains');
  assert.ok((await misfitOf(verifierWith(textbook, asked), sameTreeDrafter())) < 4, 'the textbook rule');
  for (const [name, rule] of Object.entries(wrongForChosen).slice(0, 2)) {
    assert.ok((await misfitOf(verifierWith(rule, asked), sameTreeDrafter())) > 6, name);
  }
  for (const [name, rule] of Object.entries(wrongForDrawn).slice(0, 2)) {
    assert.ok((await misfitOf(verifierWith(rule, asked), await drawingDrafter(asked))) > 6, name);
  }
});
