/** Whatever a head drafts, greedy output is plain decoding's token for token. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCheckpoint } from '../../../engine/compile/checkpoint.ts';
import type { Expansion } from '../../../engine/compile/heads/eagleGraphExpansion.ts';
import { openHead } from '../../../engine/compile/heads/openHead.ts';
import type { Precision } from '../../../engine/compile/precision.ts';
import { CostModel } from '../../../engine/cost/costModel.ts';
import { DraftTemperature } from '../../../engine/cost/draftTemperature.ts';
import { fixedController } from '../../../engine/decode/controller.ts';
import { type DecodeRequest, decode } from '../../../engine/decode/decoder.ts';
import { Session } from '../../../engine/decode/session.ts';
import { SessionPool } from '../../../engine/decode/sessionPool.ts';
import type { Drafter } from '../../../engine/draft/drafter.ts';
import { EagleDrafter, type EagleOptions } from '../../../engine/draft/eagle.ts';
import { EagleDepth } from '../../../engine/draft/eagleDepth.ts';
import type { CostTable } from '../../../engine/model/costTable.ts';
import type { DraftHead } from '../../../engine/model/draftHead.ts';
import type { LanguageModel } from '../../../engine/model/languageModel.ts';
import { greedyVerifier } from '../../../engine/verify/greedy.ts';
import { CpuModels } from '../../cpuModels.ts';
import { DraftHeads } from '../../draftHeads.ts';
import { EagleGolden, type EagleHeadName, eagleHeads, eagleTargetDir } from '../../eagleGolden.ts';
import { deepSeekFolder, mimoFolder, writeHead } from '../../headFolder.ts';
import { withTarget } from '../../headTargetFolder.ts';
import { Random } from '../../random.ts';
import { tinyShape, writeRandomCheckpoint } from '../../randomCheckpoint.ts';
import { writeRandomHead } from '../../randomHead.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const models = new CpuModels();
const heads = new DraftHeads();
const folder = temporaryFolder();

interface Pair {
  readonly model: LanguageModel;
  readonly head: DraftHead;
}

async function goldenPair(name: EagleHeadName, precision: Precision, expansion?: Expansion): Promise<Pair> {
  const description = await new EagleGolden(name).openHead();
  const model = await models.open(eagleTargetDir, { precision, taps: description.taps });
  return { model, head: await heads.open(description, eagleTargetDir, precision, expansion) };
}

/** @param window positions that the head was trained on */
async function randomPair(kind: 'eagle' | 'eagle3', precision: Precision, window: number): Promise<Pair> {
  const shape = { ...tinyShape, layers: 6 };
  const targetDir = writeRandomCheckpoint(join(folder, 'target'), shape, 2);
  const dir = join(folder, `${kind}-${precision}-${window}`);
  writeRandomHead(dir, kind, { ...shape, contextLength: window }, 3);
  const description = await openHead(dir, (await openCheckpoint(targetDir)).architecture);
  if (description.kind === 'medusa') throw new Error('a Medusa head');
  const model = await models.open(targetDir, { precision, taps: description.taps });
  return { model, head: await heads.open(description, targetDir, precision) };
}

function request(tokens: Int32Array, overrides: Partial<DecodeRequest> = {}): DecodeRequest {
  return {
    prompt: { tokens, prefix: { start: 0, end: tokens.length }, suffix: { start: 0, end: 0 } },
    maxNewTokens: 40,
    endTokens: new Set(),
    onToken: () => 'continue',
    signal: new AbortController().signal,
    ...overrides,
  };
}

function run(session: Session, asked: DecodeRequest, drafter?: Drafter) {
  return decode(session, { drafter, controller: fixedController(24), verifier: greedyVerifier }, asked);
}

async function plain(model: LanguageModel, asked: DecodeRequest) {
  const session = new Session(model.createKvCache(1), model.info);
  const result = await run(session, asked);
  session.dispose();
  return result.tokens;
}

function someTokens({ info }: LanguageModel, length: number, seed: number): Int32Array {
  const random = new Random(seed);
  return Int32Array.from({ length }, () => random.below(info.vocabSize));
}

/** A table on which some levels pay and some do not. */
const costs: CostTable = {
  nodeCounts: [1, 8, 32],
  contexts: [128, 1024],
  ms: [
    [1, 2, 5],
    [2, 3, 7],
  ],
};

const shapes: readonly EagleOptions[] = [
  {},
  { numSteps: 3, topk: 2, numDraftTokens: 6 },
  { numSteps: 7, topk: 8, numDraftTokens: 24 },
  { depth: new EagleDepth(new CostModel(costs), new DraftTemperature()) },
];

/** @returns how many drafted tokens were accepted */
async function assertLossless(
  { model, head }: Pair,
  lengths: readonly number[],
  ...shapes: readonly EagleOptions[]
): Promise<number> {
  let accepted = 0;
  const drafters = shapes.map((options) => new EagleDrafter(head, options));
  for (const length of lengths) {
    const asked = request(someTokens(model, length, length), { maxNewTokens: 32 });
    const expected = await plain(model, asked);
    for (const [i, drafter] of drafters.entries()) {
      const session = new Session(model.createKvCache(1), model.info);
      const result = await run(session, asked, drafter);
      session.dispose();
      assert.deepEqual(result.tokens, expected, `${length} tokens, ${JSON.stringify(shapes[i])}`);
      accepted += result.metrics.numAcceptedTokens;
    }
  }
  return accepted;
}

for (const precision of ['fp32', 'int8'] as const) {
  for (const name of eagleHeads) {
    test(`${name}, ${precision}`, async () => {
      const pair = await goldenPair(name, precision);
      assert.ok((await assertLossless(pair, [1, 2, 120], ...shapes)) > 50);
    });
  }
  test(`a static tree, ${precision}`, async () => {
    const pair = await goldenPair('eagle1_trained', precision, 'given');
    assert.ok((await assertLossless(pair, [1, 2, 120], {})) > 20);
  });
  for (const kind of ['eagle', 'eagle3'] as const) {
    test(`a random ${kind} head, its window sliding, ${precision}`, async () => {
      const pair = await randomPair(kind, precision, 32);
      const accepted = await assertLossless(pair, [3, 33, 120], ...shapes);
      assert.ok(accepted > 0, 'nothing was accepted, so nothing was tested');
    });
  }
}

for (const [layout, folderOfHead] of Object.entries({ MiMo: mimoFolder, DeepSeek: deepSeekFolder })) {
  test(`the multi-token-prediction layer of a checkpoint, as ${layout} has it`, async () => {
    const dir = writeHead(join(folder, layout), withTarget(folderOfHead));
    const description = await openHead(dir, (await openCheckpoint(dir)).architecture);
    if (description.kind !== 'mtp') throw new Error(`read as ${description.kind}`);
    const model = await models.open(dir, { precision: 'int8', taps: description.taps });
    const head = await heads.open(description, dir, 'int8');
    assert.ok((await assertLossless({ model, head }, [1, 40, 120], ...shapes)) > 0);
  });
}

test('one drafter over many prompts, cancelled ones too, drafts nothing that changes the text', async () => {
  const { model, head } = await goldenPair('eagle3_trained', 'int8');
  const pool = new SessionPool(model, 2);
  const drafter = new EagleDrafter(head, { numSteps: 4, topk: 3, numDraftTokens: 12 });
  const random = new Random(11);
  const beginnings = [150, 90, 40].map((length, i) => someTokens(model, length, i + 1));
  let accepted = 0;
  for (let i = 0; i < 24; i++) {
    const beginning = random.pick(beginnings);
    const kept = beginning.subarray(0, 1 + random.below(beginning.length));
    const tokens = Int32Array.from([...kept, ...someTokens(model, random.below(12), i)]);
    const abort = new AbortController();
    const cancelAfter = random.chance(0.3) ? random.below(24) : Number.POSITIVE_INFINITY;
    let taken = 0;
    const asked = request(tokens, {
      maxNewTokens: 24,
      signal: abort.signal,
      onToken: () => {
        if (taken++ >= cancelAfter) abort.abort();
        return 'continue';
      },
    });
    const session = pool.acquire(tokens);
    const result = await run(session, asked, drafter);
    pool.release(session);
    const expected = await plain(model, request(tokens, { maxNewTokens: 24 }));
    assert.deepEqual(result.tokens, expected.slice(0, result.tokens.length));
    if (result.finish !== 'cancelled') assert.equal(result.tokens.length, 24);
    accepted += result.metrics.numAcceptedTokens;
  }
  assert.ok(accepted > 50);
  pool.dispose();
});

test('one drafter for two sessions in turns', async () => {
  const { model, head } = await goldenPair('eagle1_trained', 'int8');
  const drafter = new EagleDrafter(head, { numSteps: 5, topk: 2, numDraftTokens: 12 });
  const prompts = [someTokens(model, 70, 5), someTokens(model, 33, 6)];
  const sessions = prompts.map(() => new Session(model.createKvCache(1), model.info));
  const results = await Promise.all(prompts.map((tokens, i) => run(sessions[i], request(tokens), drafter)));
  for (const [i, tokens] of prompts.entries()) {
    assert.deepEqual(results[i].tokens, await plain(model, request(tokens)));
    sessions[i].dispose();
  }
});

test('a full context ends the text as in plain decoding', async () => {
  const { model, head } = await randomPair('eagle3', 'int8', 512);
  const { contextLength } = model.info;
  for (const length of [contextLength - 9, contextLength - 1, contextLength]) {
    const asked = request(someTokens(model, length, length), { maxNewTokens: 1000 });
    const session = new Session(model.createKvCache(1), model.info);
    const drafter = new EagleDrafter(head, { numSteps: 8, topk: 2, numDraftTokens: 20 });
    const result = await run(session, asked, drafter);
    assert.equal(result.finish, 'length');
    assert.deepEqual(result.tokens, await plain(model, asked));
    session.dispose();
  }
});
