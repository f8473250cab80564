/**
 * A token's logits are the same bit for bit whether it is evaluated alone or anywhere in a tree, and however the tokens
 * before it came into the cache. This is what makes speculation lossless: see engine/compile/cpuAttention.ts.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Precision } from '../../../engine/compile/precision.ts';
import { embeddedModelDir } from '../../../engine/embeddedModel.ts';
import type { KvCache, LanguageModel } from '../../../engine/model/languageModel.ts';
import { ROOT } from '../../../engine/tree/tokenTree.ts';
import { CpuModels } from '../../cpuModels.ts';
import { goldenDir } from '../../golden.ts';
import { Random } from '../../random.ts';
import { writeRandomCheckpoint } from '../../randomCheckpoint.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const models = new CpuModels();

const checkpoints = {
  llama: goldenDir('llama'),
  'one query head a KV head': goldenDir('llama_linear_rope'),
  'tied embeddings': goldenDir('qwen2_tied'),
  'normed queries and keys': goldenDir('qwen3_tied'),
  'the embedded model': embeddedModelDir,
};
/** Past the first growth of the capacity, and past several blocks of closed rows. */
const LENGTH = 270;
const SETUPS = [
  { threads: 1, capacity: 1 },
  { threads: 2, capacity: 300 },
];
const ALONE = Int32Array.of(0);
const wideHeads = {
  modelType: 'qwen2',
  vocabSize: 515,
  layers: 1,
  hiddenSize: 320,
  intermediateSize: 640,
  heads: 4,
  kvHeads: 2,
  contextLength: 1024,
  tied: true,
} as const;

function someTokens({ info }: LanguageModel, length: number): Int32Array {
  return Int32Array.from({ length }, (_, i) => (i * i * 31 + i * 7 + 3) % info.vocabSize);
}

/** Logits after each token, evaluated one by one. */
async function oneByOne(model: LanguageModel, tokens: Int32Array): Promise<Float32Array[]> {
  const kv = model.createKvCache(1);
  const rows: Float32Array[] = [];
  for (const token of tokens) {
    const { logits } = await kv.forward({ tokens: Int32Array.of(token), rows: ALONE, want: 'logits' });
    await kv.commit(ALONE);
    rows.push(logits!);
  }
  kv.dispose();
  return rows;
}

/** Rows whose bits differ. */
function differing(actual: Float32Array, expected: readonly Float32Array[]): number {
  const bytes = (array: Float32Array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);
  const { length } = expected[0];
  return expected.filter((row, i) => !bytes(actual.subarray(i * length, (i + 1) * length)).equals(bytes(row)))
    .length;
}

/** A tree in which `path` leads from the root to a leaf, among branches of other tokens. */
function hiddenInJunk(path: Int32Array, vocabSize: number, random: Random) {
  const tokens: number[] = [];
  const parents: number[] = [];
  const rows: number[] = [];
  const add = (token: number, parent: number) => {
    parents.push(parent);
    return tokens.push(token) - 1;
  };
  let parent = ROOT;
  for (const token of path) {
    while (random.chance(0.5)) {
      const anywhere = random.chance(0.5) || tokens.length === 0 ? parent : random.below(tokens.length);
      add(random.below(vocabSize), anywhere);
    }
    parent = add(token, parent);
    rows.push(parent);
  }
  return { tokens: Int32Array.from(tokens), parents: Int32Array.from(parents), rows: Int32Array.from(rows) };
}

/** Evaluates `tokens` in random trees, now and then going back. @returns rows that differ from `expected` */
async function inTrees(kv: KvCache, tokens: Int32Array, expected: readonly Float32Array[], random: Random) {
  const vocabSize = expected[0].length;
  let wrong = 0;
  while (kv.length < tokens.length) {
    const start = kv.length;
    const deepest = Math.min(tokens.length - start, kv.exactDepth);
    const path = tokens.subarray(
      start,
      start + 1 + random.below(random.chance(0.15) ? deepest : Math.min(9, deepest)),
    );
    const tree = hiddenInJunk(path, vocabSize, random);
    const { logits } = await kv.forward({ ...tree, want: 'logits' });
    wrong += differing(logits!, expected.slice(start, start + path.length));
    await kv.commit(tree.rows.subarray(0, 1 + random.below(path.length)));
    if (random.chance(0.1)) kv.truncate(Math.max(0, kv.length - random.below(80)));
  }
  return wrong;
}

for (const [name, dir] of Object.entries(checkpoints)) {
  for (const precision of ['fp32', 'int8', 'int4'] satisfies Precision[]) {
    test(`${name}, ${precision}: a token's logits do not depend on its company`, async () => {
      let expected: Float32Array[] | undefined;
      // One setup is enough for the large one: the small ones show that the setup does not matter.
      for (const { threads, capacity } of dir === embeddedModelDir ? SETUPS.slice(1) : SETUPS) {
        const model = await models.open(dir, { precision, threads });
        const tokens = someTokens(model, LENGTH);
        expected ??= await oneByOne(model, tokens);
        const wrong = await inTrees(model.createKvCache(capacity), tokens, expected, new Random(capacity));
        assert.equal(wrong, 0, `${threads} threads, capacity ${capacity} at first`);
      }
    });
  }
}

/** Drafts that nobody may ask for more of, and what is pending with them. */
const LARGEST_BATCHES = [8, 33, 65, 96];

for (const headDim of [128, 160, 256, 320]) {
  test(`heads of ${headDim} dimensions: a token's logits do not depend on how many are evaluated with it`, async () => {
    const dir = temporaryFolder();
    writeRandomCheckpoint(dir, { ...wideHeads, headDim }, 7);
    const model = await models.open(dir, { precision: 'int8' });
    const tokens = someTokens(model, 140);
    const expected = await oneByOne(model, tokens);
    const random = new Random(headDim);
    for (const size of LARGEST_BATCHES) {
      const kv = model.createKvCache(1);
      while (kv.length + 4 <= tokens.length) {
        const path = tokens.subarray(kv.length, kv.length + 4);
        const junk = Int32Array.from({ length: size - 4 }, () => random.below(model.info.vocabSize));
        const rows = Int32Array.of(0, 1, 2, 3);
        const { logits } = await kv.forward({
          tokens: Int32Array.of(...path, ...junk),
          parents: Int32Array.of(ROOT, 0, 1, 2, ...junk.map(() => 0)),
          rows,
          want: 'logits',
        });
        const wrong = differing(logits!, expected.slice(kv.length, kv.length + 4));
        assert.equal(wrong, 0, `${size} tokens after ${kv.length}`);
        await kv.commit(rows);
      }
      kv.dispose();
    }
  });
}

test('the comparison sees one other token far back', async () => {
  const model = await models.open(goldenDir('llama'), { precision: 'int8' });
  const tokens = someTokens(model, LENGTH);
  const expected = await oneByOne(model, tokens);
  const other = tokens.with(50, tokens[50] + 1);
  const wrong = await inTrees(model.createKvCache(1), other, expected, new Random(1));
  assert.ok(wrong >= LENGTH - 50);
});

test('far into a context, neither many threads nor the capacity make a token depend on its company', async () => {
  // The kernels share a product out among threads by its size: the rows of the batch are part of that.
  const model = await models.open(embeddedModelDir, { precision: 'int8', threads: 8 });
  const tokens = someTokens(model, 640);
  const [small, large] = [model.createKvCache(1), model.createKvCache(1500)];
  for (let start = 0; start < tokens.length - 16; start += 16) {
    const path = Int32Array.from({ length: 16 }, (_, i) => i);
    for (const kv of [small, large]) {
      await kv.forward({
        tokens: tokens.subarray(start, start + 16),
        rows: new Int32Array(0),
        want: 'argmax',
      });
      await kv.commit(path);
    }
  }
  const batch = { tokens: tokens.subarray(small.length), rows: Int32Array.from({ length: 16 }, (_, i) => i) };
  const { logits: inSmall } = await small.forward({ ...batch, want: 'logits' });
  const { logits: inLarge } = await large.forward({ ...batch, want: 'logits' });
  const expected: Float32Array[] = [];
  for (const token of batch.tokens) {
    const { logits } = await small.forward({ tokens: Int32Array.of(token), rows: ALONE, want: 'logits' });
    await small.commit(ALONE);
    expected.push(logits!);
  }
  assert.equal(differing(inSmall!, expected), 0);
  assert.equal(differing(inLarge!, expected), 0);
});
