import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { KvCache } from '../../../engine/model/languageModel.ts';
import { CpuModels } from '../../cpuModels.ts';
import { tinyShape, writeRandomCheckpoint } from '../../randomCheckpoint.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const models = new CpuModels();
const folder = temporaryFolder();
const dir = writeRandomCheckpoint(join(folder, 'tiny'), { ...tinyShape, contextLength: 700 }, 1);
const model = await models.open(dir, { precision: 'int8', taps: [1] });
const { vocabSize } = model.info;

function tokensFrom(position: number, count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, i) => (7 * (position + i) + 3) % vocabSize);
}

/** Evaluates and commits the text's next `count` tokens. */
async function append(kv: KvCache, count: number): Promise<void> {
  const tokens = tokensFrom(kv.length, count);
  await kv.forward({ tokens, rows: new Int32Array(0), want: 'argmax' });
  await kv.commit(Int32Array.from(tokens.keys()));
}

async function logitsAfter(kv: KvCache): Promise<Float32Array> {
  const { logits } = await kv.forward({ tokens: Int32Array.of(1), rows: Int32Array.of(0), want: 'logits' });
  return logits!;
}

test('whatever was evaluated, committed, reserved and forgotten before, the committed rows decide', async () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ do: fc.constant('append' as const), count: fc.integer({ min: 1, max: 60 }) }),
      fc.record({ do: fc.constant('drop' as const), count: fc.integer({ min: 1, max: 20 }) }),
      fc.record({ do: fc.constant('truncate' as const), count: fc.nat(500) }),
      fc.record({ do: fc.constant('reserve' as const), count: fc.nat(900) }),
    ),
    { minLength: 1, maxLength: 25 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const kv = model.createKvCache(1);
      for (const { do: what, count } of list) {
        if (what === 'append') await append(kv, Math.min(count, 690 - kv.length, kv.exactDepth));
        else if (what === 'drop')
          await kv
            .forward({ tokens: tokensFrom(50, count), rows: Int32Array.of(0), want: 'argmax' })
            .catch(() => {});
        else if (what === 'truncate') kv.truncate(count);
        else kv.reserve(count);
        if (kv.length >= 680) kv.truncate(300);
      }
      const fresh = model.createKvCache(1);
      while (fresh.length < kv.length) await append(fresh, 1);
      assert.deepEqual(await logitsAfter(kv), await logitsAfter(fresh));
      kv.dispose();
      fresh.dispose();
    }),
    { numRuns: 15 },
  );
});

test('outputs have a row a token wanted, and taps one a token', async () => {
  const kv = model.createKvCache(1);
  for (const size of [1, 2, 5]) {
    const tokens = tokensFrom(0, size);
    const rows = Int32Array.of(size - 1);
    const { argmax, logits, taps } = await kv.forward({ tokens, rows, want: 'logits' });
    assert.deepEqual([argmax.length, logits!.length, taps.length], [1, vocabSize, 1]);
    assert.equal(taps[0].length, size * model.info.hiddenSize);
    assert.equal(argmax[0], logits!.indexOf(Math.max(...logits!)));
    const none = await kv.forward({ tokens, rows: new Int32Array(0), want: 'argmax' });
    assert.deepEqual([none.argmax.length, none.logits], [0, undefined]);
  }
  kv.dispose();
});

test('the context is full when its last position is used, and by depth, not by the size of a tree', async () => {
  const kv = model.createKvCache(1);
  while (kv.length < 698) await append(kv, Math.min(kv.exactDepth, 698 - kv.length));
  const wide = { tokens: tokensFrom(0, 30), parents: new Int32Array(30).fill(-1), rows: Int32Array.of(0) };
  await kv.forward({ ...wide, want: 'argmax' });
  await kv.forward({ tokens: tokensFrom(0, 2), rows: Int32Array.of(1), want: 'argmax' });
  await assert.rejects(kv.forward({ tokens: tokensFrom(0, 3), rows: Int32Array.of(1), want: 'argmax' }), {
    code: 'usage',
    message: /700/,
  });
  kv.dispose();
});

test('a token that does not exist is a coded fault, and the cache goes on', async () => {
  const kv = model.createKvCache(1);
  await append(kv, 40);
  const before = await logitsAfter(kv);
  const wrong = { tokens: Int32Array.of(vocabSize + 5), rows: Int32Array.of(0), want: 'argmax' as const };
  await assert.rejects(kv.forward(wrong), { name: 'SlipstreamError', code: 'internal' });
  assert.equal(kv.length, 40);
  assert.deepEqual(await logitsAfter(kv), before);
  kv.dispose();
});

test('rows are committed once', async () => {
  const kv = model.createKvCache(1);
  await append(kv, 3);
  assert.throws(() => kv.commit([0]), /commit without a forward pass/);
  await logitsAfter(kv);
  kv.truncate(2);
  assert.throws(() => kv.commit([0]), /commit without a forward pass/);
  kv.dispose();
});

test('the bytes of a cache follow its capacity', () => {
  const kv = model.createKvCache(1);
  const small = kv.bytes;
  kv.reserve(650);
  assert.ok(kv.bytes > 2 * small);
  kv.reserve(10);
  assert.equal(kv.bytes, small);
  kv.dispose();
});

test('rows that a shorter sequence attends to for nothing are given back, a few are kept', () => {
  const kv = model.createKvCache(1500);
  const large = kv.bytes;
  kv.reserve(1420);
  assert.equal(kv.bytes, large);
  kv.reserve(1100);
  const smaller = kv.bytes;
  assert.ok(smaller < large);
  kv.reserve(1000);
  assert.equal(kv.bytes, smaller);
  kv.dispose();
});
