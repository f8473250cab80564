import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { SlipstreamError } from '../../../engine/errors.ts';
import type { KvCache, LanguageModel } from '../../../engine/model/languageModel.ts';
import { chainParents } from '../../../engine/tree/treeShape.ts';
import { largestError } from '../../goldenCheck.ts';
import { GpuModels } from '../../gpuModels.ts';
import { Random } from '../../random.ts';
import { tinyShape, writeRandomCheckpoint } from '../../randomCheckpoint.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const models = new GpuModels();
const checkpoint = writeRandomCheckpoint(join(temporaryFolder(), 'tiny'), tinyShape, 11);
const opening = models.open(checkpoint, { precision: 'fp32' });

/** Sums in another order differ by this much at most; another row somewhere differs by far more. */
const ROUNDING = 1e-4;

const random = new Random(3);
const someTokens = (count: number) =>
  Int32Array.from({ length: count }, () => random.below(tinyShape.vocabSize));

/** The logits of every token of the batch. [T, vocab] */
async function logitsOf(kv: KvCache, tokens: Int32Array, parents?: Int32Array): Promise<Float32Array> {
  const rows = Int32Array.from(tokens.keys());
  const { logits } = await kv.forward({ tokens, rows, want: 'logits', ...(parents && { parents }) });
  return logits!;
}

async function append(kv: KvCache, tokens: Int32Array): Promise<void> {
  await logitsOf(kv, tokens);
  await kv.commit(Int32Array.from(tokens.keys()));
}

async function cacheOf(model: LanguageModel, tokens: Int32Array): Promise<KvCache> {
  const kv = model.createKvCache(tokens.length);
  await append(kv, tokens);
  return kv;
}

function pathTo(node: number, parents: Int32Array): number[] {
  const path: number[] = [];
  for (let seen = node; seen >= 0; seen = parents[seen]) path.unshift(seen);
  return path;
}

test('every node of a tree is predicted as at the end of its own path', async () => {
  const model = await opening;
  const kv = await cacheOf(model, someTokens(13));
  // More nodes than one run takes where long runs are unsafe.
  const tokens = someTokens(21);
  const parents = Int32Array.from(tokens, (_, node) => random.below(node + 1) - 1);
  const inTree = await logitsOf(kv, tokens, parents);
  const { vocabSize } = model.info;
  for (const node of [0, 5, 12, 16, 20]) {
    const alone = await logitsOf(
      kv,
      Int32Array.from(pathTo(node, parents), (seen) => tokens[seen]),
    );
    const row = inTree.subarray(node * vocabSize, (node + 1) * vocabSize);
    assert.ok(largestError(row, alone.subarray(-vocabSize)) < ROUNDING, `node ${node}`);
  }
  kv.dispose();
});

test('committing a path moves its rows up, and none but them', async () => {
  const model = await opening;
  const prompt = someTokens(9);
  const tokens = someTokens(8);
  const parents = Int32Array.of(-1, -1, 1, 1, 3, 4, 4, 6);
  // The rows of the last one land on rows that are read for others.
  for (const path of [[1, 3, 4, 6, 7], [1, 2], [0], [1, 3]]) {
    const kv = await cacheOf(model, prompt);
    await logitsOf(kv, tokens, parents);
    await kv.commit(path);
    assert.equal(kv.length, prompt.length + path.length);
    const straight = await cacheOf(model, Int32Array.of(...prompt, ...path.map((node) => tokens[node])));
    const probe = someTokens(2);
    const error = largestError(await logitsOf(kv, probe), await logitsOf(straight, probe));
    assert.ok(error < ROUNDING, `path ${path}: ${error}`);
    const other = await cacheOf(model, Int32Array.of(...prompt, ...tokens.subarray(0, path.length)));
    const wrong = largestError(await logitsOf(other, probe), await logitsOf(straight, probe));
    if (path[0] !== 0) assert.ok(wrong > 100 * ROUNDING, 'unmoved rows would go unnoticed');
    for (const cache of [kv, straight, other]) cache.dispose();
  }
});

test('rows are forgotten, written over and kept when the cache grows', async () => {
  const model = await opening;
  const [kept, forgotten, later] = [someTokens(40), someTokens(30), someTokens(300)];
  const kv = model.createKvCache(1);
  await append(kv, kept);
  await append(kv, forgotten);
  const { bytes } = kv;
  kv.truncate(kept.length);
  assert.equal(kv.length, kept.length);
  await append(kv, later);
  assert.ok(kv.bytes > bytes, 'it did not grow');
  const straight = await cacheOf(model, Int32Array.of(...kept, ...later));
  const probe = someTokens(1);
  assert.ok(largestError(await logitsOf(kv, probe), await logitsOf(straight, probe)) < ROUNDING);
  for (const cache of [kv, straight]) cache.dispose();
});

test('a batch that is not committed leaves nothing behind', async () => {
  const model = await opening;
  const prompt = someTokens(12);
  const kv = await cacheOf(model, prompt);
  const probe = someTokens(1);
  const before = await logitsOf(kv, probe);
  await logitsOf(kv, someTokens(10));
  assert.deepEqual(await logitsOf(kv, probe), before);
  kv.dispose();
});

test('two caches of a model do not see each other', async () => {
  const model = await opening;
  const prompt = someTokens(12);
  const kv = await cacheOf(model, prompt);
  const probe = someTokens(1);
  const before = await logitsOf(kv, probe);
  const other = await cacheOf(model, someTokens(20));
  assert.deepEqual(await logitsOf(kv, probe), before);
  other.dispose();
  assert.deepEqual(await logitsOf(kv, probe), before);
  kv.dispose();
});

test('only the wanted rows are predicted, in order', async () => {
  const model = await opening;
  const kv = model.createKvCache(32);
  const tokens = someTokens(20);
  const { argmax } = await kv.forward({ tokens, rows: Int32Array.from(tokens.keys()), want: 'argmax' });
  const some = await kv.forward({ tokens, rows: Int32Array.of(3, 15, 16, 19), want: 'argmax' });
  assert.deepEqual(
    [...some.argmax],
    [3, 15, 16, 19].map((row) => argmax[row]),
  );
  const none = await kv.forward({ tokens, rows: new Int32Array(0), want: 'argmax' });
  assert.equal(none.argmax.length, 0);
  kv.dispose();
});

test('more tokens than the context are refused, and the cache goes on', async () => {
  const model = await opening;
  const kv = await cacheOf(model, someTokens(tinyShape.contextLength - 4));
  const five = {
    tokens: someTokens(5),
    parents: chainParents(5),
    rows: Int32Array.of(4),
    want: 'argmax',
  } as const;
  await assert.rejects(
    kv.forward(five),
    (error) =>
      error instanceof SlipstreamError && error.code === 'usage' && /context of 512/.test(error.message),
  );
  await append(kv, someTokens(4));
  assert.equal(kv.length, tinyShape.contextLength);
  kv.dispose();
});

test('successors come with their log-probabilities, however many runs a batch takes', async () => {
  const model = await models.open(checkpoint, { precision: 'fp32', successors: 3, logProbs: 'successors' });
  const { vocabSize } = model.info;
  const kv = await cacheOf(model, someTokens(9));
  const rows = Int32Array.of(0, 7, 13, 20);
  const { logits, successors, successorLogProbs } = await kv.forward({
    tokens: someTokens(21),
    rows,
    want: 'logits',
  });
  for (const row of rows.keys()) {
    const scores = [...logits!.subarray(row * vocabSize, (row + 1) * vocabSize)];
    const best = scores.map((_, token) => token).sort((a, b) => scores[b] - scores[a]);
    const logSum = Math.log(scores.reduce((sum, score) => sum + Math.exp(score), 0));
    for (let i = 0; i < 3; i++) {
      assert.equal(successors![3 * row + i], best[i]);
      assert.ok(Math.abs(successorLogProbs![3 * row + i] - (scores[best[i]] - logSum)) < ROUNDING);
    }
  }
  kv.dispose();
});
