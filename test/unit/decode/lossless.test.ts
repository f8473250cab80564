/** Whatever is drafted, greedy output equals plain decoding's token for token. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Precision } from '../../../engine/compile/precision.ts';
import { CostModel } from '../../../engine/cost/costModel.ts';
import { CostController, type DraftController, fixedController } from '../../../engine/decode/controller.ts';
import { type DecodeRequest, type DecodeResult, decode } from '../../../engine/decode/decoder.ts';
import { Session } from '../../../engine/decode/session.ts';
import { SessionPool } from '../../../engine/decode/sessionPool.ts';
import { BlendDrafter } from '../../../engine/draft/blend.ts';
import type { Drafter } from '../../../engine/draft/drafter.ts';
import { NgramDrafter } from '../../../engine/draft/ngram.ts';
import { SUCCESSORS } from '../../../engine/draft/recycledSource.ts';
import { RecyclingDrafter } from '../../../engine/draft/recycling.ts';
import { embeddedModelDir } from '../../../engine/embeddedModel.ts';
import type { CostTable } from '../../../engine/model/costTable.ts';
import type { LanguageModel } from '../../../engine/model/languageModel.ts';
import { loadTokenizer } from '../../../engine/model/tokenizer.ts';
import { greedyVerifier } from '../../../engine/verify/greedy.ts';
import { CpuModels } from '../../cpuModels.ts';
import { Random } from '../../random.ts';
import { type CheckpointShape, tinyShape, writeRandomCheckpoint } from '../../randomCheckpoint.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';
import {
  deepChainDrafter,
  greedyForBudget,
  noisyOracle,
  randomTreeDrafter,
  wideDrafter,
} from './drafters.ts';

const models = new CpuModels();
const folder = temporaryFolder();

/** A table on which some drafts pay and some do not. */
const costs: CostTable = {
  nodeCounts: [1, 8, 32],
  contexts: [128, 1024],
  ms: [
    [1, 2, 5],
    [2, 3, 7],
  ],
};

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

function newSession(model: LanguageModel): Session {
  return new Session(model.createKvCache(1), model.info);
}

function run(session: Session, asked: DecodeRequest, drafter?: Drafter, controller = fixedController(16)) {
  return decode(session, { drafter, controller, verifier: greedyVerifier }, asked);
}

/** Plain decoding on a cache of its own: what everything is compared to. */
async function plain(model: LanguageModel, asked: DecodeRequest): Promise<DecodeResult> {
  const session = newSession(model);
  const result = await run(session, asked);
  session.dispose();
  return result;
}

function ngramDrafter({ info }: LanguageModel): Drafter {
  return new NgramDrafter({ vocabSize: info.vocabSize, specialTokenIds: new Set() });
}

/** Everything in one tree, and something learned that is right now and then, never, or deeper and wider than asked. */
function blendDrafter({ info }: LanguageModel, drafter?: Drafter): Drafter {
  return new BlendDrafter({
    ngram: { vocabSize: info.vocabSize, specialTokenIds: new Set() },
    learned: drafter && { drafter, source: 'eagle3', nodesPerLevel: 2 },
    costs: new CostModel(costs),
  });
}

function everyDrafter(model: LanguageModel, written: readonly number[], seed: number): Drafter[] {
  const { vocabSize } = model.info;
  const random = new Random(seed);
  const adversaries = [
    noisyOracle(written, vocabSize, random),
    wideDrafter(vocabSize, random),
    greedyForBudget(vocabSize, random),
  ];
  return [
    ngramDrafter(model),
    new RecyclingDrafter(vocabSize),
    blendDrafter(model),
    randomTreeDrafter(vocabSize, random),
    deepChainDrafter(written, vocabSize, random),
    ...adversaries,
    ...adversaries.map((drafter) => blendDrafter(model, drafter)),
  ];
}

function controllers(): Record<string, DraftController> {
  return {
    'many drafts': fixedController(31),
    'more than exact': fixedController(80),
    'as many as pay': new CostController(new CostModel(costs)),
  };
}

async function assertLossless(model: LanguageModel, tokens: Int32Array, maxNewTokens: number, seed: number) {
  const asked = request(tokens, { maxNewTokens });
  const expected = await plain(model, asked);
  assert.equal(expected.tokens.length, maxNewTokens);
  let accepted = 0;
  for (const drafter of everyDrafter(model, expected.tokens, seed)) {
    for (const [name, controller] of Object.entries(controllers())) {
      const session = newSession(model);
      const result = await run(session, asked, drafter, controller);
      assert.deepEqual(result.tokens, expected.tokens, `${drafter.name}, ${name}`);
      accepted += result.metrics.numAcceptedTokens;
      session.dispose();
    }
  }
  assert.ok(accepted > maxNewTokens, 'drafts were accepted, or nothing was tested');
}

const shapes: Record<string, Partial<CheckpointShape>> = {
  'every query head its own KV head': { kvHeads: 4 },
  'one KV head for all, tied': { kvHeads: 1, tied: true },
  'heads wider than the hidden size, biases': { modelType: 'qwen2', headDim: 16 },
  'normed queries and keys': { modelType: 'qwen3', headDim: 16, tied: true },
  'three query heads a KV head, odd sizes': {
    modelType: 'qwen2',
    heads: 6,
    kvHeads: 2,
    hiddenSize: 40,
    intermediateSize: 52,
    vocabSize: 101,
    tied: true,
  },
  'llama3 rope scaling': {
    ropeScaling: {
      rope_type: 'llama3',
      factor: 8,
      low_freq_factor: 1,
      high_freq_factor: 4,
      original_max_position_embeddings: 64,
    },
  },
};

for (const [name, shape] of Object.entries(shapes)) {
  for (const precision of ['fp32', 'int8', 'int4'] satisfies Precision[]) {
    test(`a random checkpoint, ${name}, ${precision}`, async () => {
      const seed = name.length;
      const dir = writeRandomCheckpoint(join(folder, `${seed}`), { ...tinyShape, ...shape }, seed);
      const model = await models.open(dir, { precision, successors: SUCCESSORS });
      for (const length of [3, 100]) {
        const random = new Random(seed + length);
        const tokens = Int32Array.from({ length }, () => random.below(model.info.vocabSize));
        await assertLossless(model, tokens, 24, seed + length);
      }
    });
  }
}

function sampleFile(name: string): string {
  return readFileSync(
    fileURLToPath(new URL(`../../fixtures/sample-workspace/${name}`, import.meta.url)),
    'utf8',
  );
}

for (const precision of ['fp32', 'int8', 'int4'] satisfies Precision[]) {
  test(`the embedded model on code, ${precision}`, async () => {
    const tokenizer = await loadTokenizer(embeddedModelDir);
    const model = await models.open(embeddedModelDir, { precision, threads: 2, successors: SUCCESSORS });
    const tokens = tokenizer.encode(sampleFile('src/bookings.ts')).slice(0, 180);
    const asked = request(tokens, { maxNewTokens: 32 });
    const expected = await plain(model, asked);
    for (const drafter of everyDrafter(model, expected.tokens, 7)) {
      const result = await run(newSession(model), asked, drafter);
      assert.deepEqual(result.tokens, expected.tokens, drafter.name);
    }
  });
}

/** A model on which a pass costs next to nothing. */
async function tinyModel(): Promise<LanguageModel> {
  return models.open(writeRandomCheckpoint(join(folder, 'tiny'), tinyShape, 3), {
    precision: 'int8',
    successors: SUCCESSORS,
  });
}

function someTokens(model: LanguageModel, length: number, seed: number): Int32Array {
  const random = new Random(seed);
  return Int32Array.from({ length }, () => random.below(model.info.vocabSize));
}

test('rows kept from earlier prompts, cancelled ones too, change nothing', async () => {
  const model = await tinyModel();
  const pool = new SessionPool(model, 2);
  const random = new Random(11);
  const beginnings = [someTokens(model, 150, 1), someTokens(model, 90, 2), someTokens(model, 40, 3)];
  let reused = 0;
  for (let i = 0; i < 60; i++) {
    const beginning = random.pick(beginnings);
    const kept = beginning.subarray(0, 1 + random.below(beginning.length));
    const tokens = Int32Array.from([...kept, ...someTokens(model, random.below(12), i)]);
    const expected = await plain(model, request(tokens, { maxNewTokens: 24 }));
    const drafter = noisyOracle(expected.tokens, model.info.vocabSize, random);
    const abort = new AbortController();
    const cancelAfter = random.chance(0.3) ? random.below(24) : Number.POSITIVE_INFINITY;
    let taken = 0;
    const session = pool.acquire(tokens);
    reused += session.reusable(tokens);
    const onToken = () => {
      if (taken++ >= cancelAfter) abort.abort();
      return 'continue' as const;
    };
    const result = await run(
      session,
      request(tokens, { maxNewTokens: 24, onToken, signal: abort.signal }),
      drafter,
    );
    pool.release(session);
    assert.deepEqual(result.tokens, expected.tokens.slice(0, result.tokens.length));
    if (result.finish !== 'cancelled') assert.equal(result.tokens.length, 24);
  }
  assert.ok(reused > 1000);
  pool.dispose();
});

test('two sessions in turns do not disturb each other', async () => {
  const model = await tinyModel();
  const prompts = [someTokens(model, 70, 5), someTokens(model, 33, 6)];
  const expected = await Promise.all(prompts.map((tokens) => plain(model, request(tokens))));
  const results = await Promise.all(
    prompts.map((tokens, i) =>
      run(
        newSession(model),
        request(tokens),
        noisyOracle(expected[i].tokens, model.info.vocabSize, new Random(i)),
      ),
    ),
  );
  assert.deepEqual(
    results.map(({ tokens }) => tokens),
    expected.map(({ tokens }) => tokens),
  );
});

test('an end token inside an accepted draft ends the text before it', async () => {
  const model = await tinyModel();
  const tokens = someTokens(model, 20, 8);
  const whole = await plain(model, request(tokens));
  for (let end = 0; end < whole.tokens.length; end++) {
    const first = whole.tokens.indexOf(whole.tokens[end]);
    const asked = request(tokens, { endTokens: new Set([whole.tokens[end]]) });
    const oracle = deepChainDrafter(whole.tokens, model.info.vocabSize, new Random(end));
    const result = await run(newSession(model), asked, oracle, fixedController(31));
    assert.equal(result.finish, 'end');
    assert.deepEqual(result.tokens, whole.tokens.slice(0, first));
    assert.equal(result.metrics.completionTokens, first);
  }
});

test('neither maxNewTokens nor onToken is overrun by an accepted draft', async () => {
  const model = await tinyModel();
  const tokens = someTokens(model, 20, 9);
  const whole = await plain(model, request(tokens));
  for (const limit of [0, 1, 2, 3, 17, 39]) {
    const oracle = () => noisyOracle(whole.tokens, model.info.vocabSize, new Random(limit));
    const limited = await run(newSession(model), request(tokens, { maxNewTokens: limit }), oracle());
    assert.equal(limited.finish, 'length');
    assert.deepEqual(limited.tokens, whole.tokens.slice(0, limit));

    const taken: number[] = [];
    const onToken = (token: number) => (taken.push(token) > limit ? 'stop' : 'continue');
    const stopped = await run(newSession(model), request(tokens, { onToken }), oracle());
    assert.equal(stopped.finish, 'stop');
    assert.deepEqual(taken, whole.tokens.slice(0, limit + 1));
    assert.deepEqual(stopped.tokens, taken);
  }
});

test('a full context ends the text as a length does, with drafts and without', async () => {
  const shape = { ...tinyShape, contextLength: 64 };
  const dir = writeRandomCheckpoint(join(folder, 'short'), shape, 4);
  const model = await models.open(dir, { precision: 'int8', successors: SUCCESSORS });
  const long = await models.open(writeRandomCheckpoint(join(folder, 'long'), tinyShape, 4), {
    precision: 'int8',
  });
  for (const length of [1, 40, 63, 64]) {
    const asked = request(someTokens(model, length, length), { maxNewTokens: 1000 });
    const expected = await plain(long, { ...asked, maxNewTokens: 64 - length + 1 });
    assert.deepEqual((await plain(model, asked)).tokens, expected.tokens);
    for (const drafter of everyDrafter(model, expected.tokens, length)) {
      const result = await run(newSession(model), asked, drafter, fixedController(31));
      assert.equal(result.finish, 'length');
      assert.deepEqual(result.tokens, expected.tokens, drafter.name);
    }
  }
});

test('a prompt that is empty or longer than the context is refused, and the session goes on', async () => {
  const model = await tinyModel();
  const session = newSession(model);
  const tokens = someTokens(model, 20, 12);
  await run(session, request(tokens));
  await assert.rejects(run(session, request(new Int32Array(0))), { code: 'usage' });
  await assert.rejects(run(session, request(new Int32Array(513))), { code: 'usage', message: /513.*512/ });
  assert.deepEqual(
    (await run(session, request(tokens))).tokens,
    (await plain(model, request(tokens))).tokens,
  );
});

test('the comparison fails for a verifier that accepts what the target would not write', async () => {
  const model = await tinyModel();
  const tokens = someTokens(model, 30, 13);
  const expected = await plain(model, request(tokens));
  const gullible = {
    want: 'argmax',
    verify: (tree: { size: number }, rows: { argmax: Int32Array }) => ({
      accepted: tree.size > 0 ? [0] : [],
      bonus: rows.argmax[tree.size > 0 ? 1 : 0],
    }),
  } as const;
  const drafter = randomTreeDrafter(model.info.vocabSize, new Random(1));
  const strategy = { drafter, controller: fixedController(8), verifier: gullible };
  const result = await decode(newSession(model), strategy, request(tokens));
  assert.notDeepEqual(result.tokens, expected.tokens);
});
