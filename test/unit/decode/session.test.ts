import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { prefill } from '../../../engine/decode/prefill.ts';
import { Session, type SessionPrompt } from '../../../engine/decode/session.ts';
import { emptyTree, ROOT } from '../../../engine/tree/tokenTree.ts';
import { TokenTreeBuilder } from '../../../engine/tree/tokenTreeBuilder.ts';
import { CpuModels } from '../../cpuModels.ts';
import { tinyShape, writeRandomCheckpoint } from '../../randomCheckpoint.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const models = new CpuModels();
const dir = writeRandomCheckpoint(join(temporaryFolder(), 'tiny'), tinyShape, 1);
const model = await models.open(dir, { precision: 'int8' });
const never = new AbortController().signal;

function prompt(tokens: readonly number[]): SessionPrompt {
  return {
    tokens: Int32Array.from(tokens),
    prefix: { start: 0, end: tokens.length },
    suffix: { start: 0, end: 0 },
    document: 'a.ts',
  };
}

function numbers(length: number, step: number): number[] {
  return Array.from({ length }, (_, i) => (step * i + 3) % model.info.vocabSize);
}

function newSession(): Session {
  return new Session(model.createKvCache(1), model.info);
}

/** Logits after the last token of the session. */
async function nextLogits(session: Session): Promise<Float32Array> {
  const { logits } = await session.verify(emptyTree, 'logits');
  return logits!.slice(0, model.info.vocabSize);
}

test('what is committed is the pending tokens, the accepted nodes and the bonus', async () => {
  const session = newSession();
  session.start(prompt([5, 6, 7]));
  assert.deepEqual([session.promptLength, session.pending, session.document], [3, 3, 'a.ts']);

  const builder = new TokenTreeBuilder();
  builder.add(ROOT, 10, -1, 'document');
  const right = builder.add(ROOT, 11, -1, 'document');
  builder.add(right, 12, -1, 'document');
  const tree = builder.build(3);
  const { argmax } = await session.verify(tree, 'argmax');
  assert.equal(argmax.length, 4);
  const [node, leaf] = [tree.tokens.indexOf(11), tree.tokens.indexOf(12)];
  await session.commit(tree, [node, leaf], 20);
  assert.deepEqual([...session.tokens], [5, 6, 7, 11, 12, 20]);
  assert.equal(session.pending, 1);
  assert.equal(session.reusable(Int32Array.of(5, 6, 7, 11, 12, 20, 1)), 5);
  assert.equal(session.reusable(Int32Array.of(5, 6, 8)), 2);
  assert.equal(session.reusable(Int32Array.of(5, 6, 7)), 2);
  session.dispose();
});

test('row i + 1 of a verification is the prediction after node i', async () => {
  const session = newSession();
  session.start(prompt(numbers(40, 5)));
  const builder = new TokenTreeBuilder();
  const a = builder.add(ROOT, 10, -1, 'document');
  builder.add(ROOT, 11, -1.5, 'document');
  builder.add(a, 12, -0.1, 'document');
  const tree = builder.build(3);
  const { argmax } = await session.verify(tree, 'argmax');
  for (let node = 0; node < tree.size; node++) {
    const path = tree.parents[node] === ROOT ? [tree.tokens[node]] : [10, tree.tokens[node]];
    const alone = newSession();
    alone.start(prompt([...numbers(40, 5), ...path]));
    const expected = await alone.verify(emptyTree, 'argmax');
    assert.equal(argmax[node + 1], expected.argmax[0]);
    alone.dispose();
  }
  session.dispose();
});

test('every start is another session to a drafter', () => {
  const session = newSession();
  session.start(prompt([1]));
  const first = session.id;
  session.start(prompt([1]));
  assert.notEqual(session.id, first);
  session.dispose();
});

test('room is what the context leaves, the last token of which needs no row', () => {
  const session = newSession();
  session.start(prompt(numbers(512, 1)));
  assert.equal(session.room, 1);
  session.start(prompt(numbers(500, 1)));
  assert.equal(session.room, 13);
  session.dispose();
});

test('logits do not depend, bit for bit, on how a prompt was prefilled and what the session held before', async () => {
  const chunks = fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 6 });
  const others = fc.array(
    fc.record({ step: fc.integer({ min: 1, max: 3 }), length: fc.integer({ min: 1, max: 300 }) }),
    {
      maxLength: 3,
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 9, max: 330 }), chunks, others, async (length, sizes, before) => {
      const tokens = numbers(length, 1);
      const session = newSession();
      for (const other of before) {
        session.start(prompt(numbers(other.length, other.step)));
        await prefill(session, never);
      }
      session.start(prompt(tokens));
      for (const size of sizes) {
        if (session.pending > 1) await session.prefill(Math.min(size, session.exactDepth));
      }
      await prefill(session, never);

      const oneByOne = newSession();
      oneByOne.start(prompt(tokens));
      while (oneByOne.pending > 1) await oneByOne.prefill(1);
      assert.deepEqual(await nextLogits(session), await nextLogits(oneByOne));
      session.dispose();
      oneByOne.dispose();
    }),
    { numRuns: 12 },
  );
});

test('a session of a long text is as small as its next text', async () => {
  const session = newSession();
  session.start(prompt(numbers(20, 1)));
  const small = session.bytes;
  session.start(prompt(numbers(500, 1)));
  await prefill(session, never);
  assert.ok(session.bytes > small);
  session.start(prompt(numbers(20, 1)));
  assert.equal(session.bytes, small);
  assert.equal(session.pending, 1);
  session.dispose();
});

test('a cancelled prefill keeps what is done', async () => {
  const session = newSession();
  session.start(prompt(numbers(400, 1)));
  const abort = new AbortController();
  const running = prefill(session, abort.signal);
  abort.abort();
  await running;
  assert.ok(session.pending > 300 && session.pending < 400);
  await prefill(session, never);
  const whole = await nextLogits(session);
  const other = newSession();
  other.start(prompt(numbers(400, 1)));
  await prefill(other, never);
  assert.deepEqual(whole, await nextLogits(other));
  session.dispose();
  other.dispose();
});
