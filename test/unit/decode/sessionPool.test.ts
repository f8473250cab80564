import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { fixedController } from '../../../engine/decode/controller.ts';
import { decode } from '../../../engine/decode/decoder.ts';
import type { Session } from '../../../engine/decode/session.ts';
import { SessionPool } from '../../../engine/decode/sessionPool.ts';
import { greedyVerifier } from '../../../engine/verify/greedy.ts';
import { CpuModels } from '../../cpuModels.ts';
import { tinyShape, writeRandomCheckpoint } from '../../randomCheckpoint.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const models = new CpuModels();
const dir = writeRandomCheckpoint(join(temporaryFolder(), 'tiny'), tinyShape, 1);
const model = await models.open(dir, { precision: 'int8' });

/** A text of `length` tokens, unlike the texts of other numbers from its first token on. */
function text(number: number, length: number): Int32Array {
  return Int32Array.from({ length }, (_, i) => (number + 7 * i) % model.info.vocabSize);
}

/** Decodes one token after the prompt: the session then holds the prompt's rows. */
async function use(pool: SessionPool, tokens: Int32Array): Promise<Session> {
  const session = pool.acquire(tokens);
  await decode(
    session,
    { controller: fixedController(0), verifier: greedyVerifier },
    {
      prompt: { tokens, prefix: { start: 0, end: tokens.length }, suffix: { start: 0, end: 0 } },
      maxNewTokens: 1,
      endTokens: new Set(),
      onToken: () => 'continue',
      signal: new AbortController().signal,
    },
  );
  pool.release(session);
  return session;
}

/** Takes a session as `acquire` would, and puts it back. */
function chosen(pool: SessionPool, tokens: Int32Array): Session {
  const session = pool.acquire(tokens);
  pool.release(session);
  return session;
}

test('a prompt that goes on where another ended gets its session', async () => {
  const pool = new SessionPool(model, 3);
  const [a, b] = [await use(pool, text(0, 100)), await use(pool, text(1, 100))];
  assert.notEqual(a, b);
  assert.equal(chosen(pool, text(0, 101)), a);
  assert.equal(chosen(pool, text(1, 102)), b);
  assert.equal(a.reusable(text(0, 101)), 100);
  assert.equal(a.reusable(text(0, 60)), 59, 'the last token of a prompt is always evaluated');
  pool.dispose();
});

test('the one that shares most is chosen', async () => {
  const pool = new SessionPool(model, 3);
  const a = await use(pool, text(0, 100));
  const other = text(0, 100).map((token, i) => (i < 40 ? token : 90));
  pool.acquire(text(0, 100));
  const b = await use(pool, other);
  pool.release(a);
  assert.equal(chosen(pool, other), b);
  assert.equal(chosen(pool, text(0, 100)), a);
  pool.dispose();
});

test('a short prompt goes on in its session too', async () => {
  const pool = new SessionPool(model, 3);
  const a = await use(pool, text(0, 12));
  assert.equal(chosen(pool, text(0, 13)), a);
  pool.dispose();
});

test('a prompt whose evaluation was called off early goes on in its session', async () => {
  const pool = new SessionPool(model, 2);
  const other = await use(pool, text(1, 100));
  const tokens = text(0, 200);
  const session = pool.acquire(tokens);
  session.start({ tokens, prefix: { start: 0, end: tokens.length }, suffix: { start: 0, end: 0 } });
  await session.prefill(16);
  pool.release(session);
  assert.equal(chosen(pool, text(0, 201)), session);
  assert.equal(chosen(pool, text(1, 101)), other);
  pool.dispose();
});

test('a few tokens in common are not worth the rows of another text', async () => {
  const pool = new SessionPool(model, 3);
  const a = await use(pool, text(0, 100));
  const alike = text(0, 100).map((token, i) => (i < 20 ? token : 90));
  const fresh = pool.acquire(alike);
  assert.notEqual(fresh, a);
  pool.release(fresh);
  assert.equal(chosen(pool, text(0, 101)), a);
  pool.dispose();
});

test('with no space left, the session that was not asked for longest is given up', async () => {
  const pool = new SessionPool(model, 2);
  const a = await use(pool, text(0, 100));
  const b = await use(pool, text(1, 100));
  // Shares a little with the younger session: that is no reason to lose it.
  const alike = text(1, 100).map((token, i) => (i < 5 ? token : 90));
  assert.equal(await use(pool, alike), a);
  assert.equal(chosen(pool, text(1, 101)), b);
  pool.dispose();
});

test('no more sessions stay than are allowed, and their bytes are known', async () => {
  const pool = new SessionPool(model, 2);
  const sessions = [0, 1, 2].map((number) => pool.acquire(text(number, 10)));
  assert.equal(new Set(sessions).size, 3);
  assert.equal(pool.bytes, 0);
  for (const session of sessions) pool.release(session);
  assert.equal(pool.bytes, sessions[1].bytes + sessions[2].bytes);
  assert.ok(pool.bytes > 0);
  pool.dispose();
  assert.equal(pool.bytes, 0);
});
