import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode } from '../../../engine/decode/decoder.ts';
import { Session } from '../../../engine/decode/session.ts';
import { greedyVerifier } from '../../../engine/verify/greedy.ts';
import { CpuModels } from '../../cpuModels.ts';
import { goldenDir } from '../../golden.ts';

const models = new CpuModels();
const model = await models.open(goldenDir('llama'), {
  precision: 'fp32',
  taps: [0, 3],
  successors: 4,
  logProbs: 'successors',
});

test('every committed token has the hidden states that a pass over it alone has, reused prefixes too', async () => {
  const session = new Session(model.createKvCache(1), model.info);
  const prompt = Int32Array.from({ length: 40 }, (_, i) => (i * 37) % 500);
  await write(session, prompt);
  await write(session, Int32Array.from([...prompt.subarray(0, 25), 7, 8, 9]));

  const { tokens, hidden } = session;
  assert.equal(hidden.length, tokens.length - session.pending);
  assert.equal(hidden.width, 2 * model.info.hiddenSize);
  const rows = hidden.slice(0, hidden.length);
  const kv = model.createKvCache(1);
  for (let t = 0; t < hidden.length; t++) {
    const alone = await kv.forward({
      tokens: tokens.slice(t, t + 1),
      rows: Int32Array.of(0),
      want: 'argmax',
    });
    await kv.commit([0]);
    const expected = alone.taps.flatMap((tap) => [...tap]);
    assert.deepEqual([...rows.subarray(t * hidden.width, (t + 1) * hidden.width)], expected);
  }
});

test('successors are the best logits, best first, with their log-probabilities', async () => {
  const kv = model.createKvCache(1);
  const tokens = Int32Array.of(1, 2, 3);
  const { logits, successors, successorLogProbs, argmax } = await kv.forward({
    tokens,
    rows: Int32Array.of(1, 2),
    want: 'logits',
  });
  const { vocabSize } = model.info;
  for (const row of [0, 1]) {
    const scores = [...logits!.subarray(row * vocabSize, (row + 1) * vocabSize)];
    const best = scores.map((_, token) => token).sort((a, b) => scores[b] - scores[a]);
    assert.deepEqual([...successors!.subarray(4 * row, 4 * row + 4)], best.slice(0, 4));
    assert.equal(argmax[row], best[0]);
    const logSum = Math.log(scores.reduce((sum, score) => sum + Math.exp(score), 0));
    for (let i = 0; i < 4; i++) {
      assert.ok(Math.abs(successorLogProbs![4 * row + i] - (scores[best[i]] - logSum)) < 1e-5);
    }
  }
});

async function write(session: Session, tokens: Int32Array): Promise<void> {
  const controller = { budget: () => 0, choose: () => assert.fail('nothing is drafted'), observe: () => {} };
  await decode(
    session,
    { controller, verifier: greedyVerifier },
    {
      prompt: { tokens, prefix: { start: 0, end: tokens.length }, suffix: { start: 0, end: 0 } },
      maxNewTokens: 12,
      endTokens: new Set(),
      onToken: () => 'continue',
      signal: new AbortController().signal,
    },
  );
}
