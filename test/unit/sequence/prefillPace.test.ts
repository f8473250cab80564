import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PrefillPace } from '../../../engine/sequence/prefillPace.ts';

/** How long a pass may take: a cancel is felt within twice that. */
const PASS_MS = 25;

/** What a chunk may take where a pass over one token alone takes long. */
const allowedMs = (singleMs: number) => Math.max(PASS_MS, 2 * singleMs);

test('a chunk takes no longer than a pass may, however fast the model is and was', () => {
  const speeds = fc.array(fc.double({ min: 0.001, max: 100, noNaN: true }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(speeds, (msPerToken) => {
      const pace = new PrefillPace();
      for (const ms of msPerToken) {
        // It is found out little by little that the model has become slower or faster.
        for (let i = 0; i < 32; i++) pace.observe(pace.chunk, pace.chunk * ms);
        const chunks = Array.from({ length: 32 }, () => {
          const { chunk } = pace;
          pace.observe(chunk, chunk * ms);
          return chunk;
        });
        const largest = Math.max(...chunks);
        assert.ok(Math.min(...chunks) >= 1 && largest <= 256, `${chunks}`);
        assert.ok(largest === 1 || largest * ms <= allowedMs(ms) + 1e-9, `${largest} of ${ms} ms each`);
        // Nor much less than fits, or a prompt would take more passes than it has to.
        assert.ok(largest >= Math.min(256, Math.floor(PASS_MS / ms) - 1), `${largest} of ${ms} ms each`);
      }
    }),
  );
});

/** Of a pass over so many tokens. */
type Cost = (tokens: number) => number;

/** Time for `tokens` in chunks of what `pace` says, at most 16. @returns the longest of the later half of them, too */
function prefillMs(pace: PrefillPace, tokens: number, cost: Cost): { totalMs: number; longestMs: number } {
  let [totalMs, longestMs] = [0, 0];
  for (let left = tokens; left > 0; ) {
    const size = Math.min(pace.chunk, 16, left);
    const ms = cost(size);
    pace.observe(size, ms);
    totalMs += ms;
    if (2 * left < tokens) longestMs = Math.max(longestMs, ms);
    left -= size;
  }
  return { totalMs, longestMs };
}

/** What passes take, and how much longer 1000 tokens may take than in chunks of 16, whatever those took. */
const models: Record<string, { readonly cost: Cost; readonly factor: number }> = {
  '45 + 3.5 ms a token': { cost: (tokens) => 45 + 3.5 * tokens, factor: 1.2 },
  '24.5 + 1.5 ms a token': { cost: (tokens) => 24.5 + 1.5 * tokens, factor: 1.1 },
  '200 + 20 ms a token': { cost: (tokens) => 200 + 20 * tokens, factor: 1.25 },
  '22 + 1.5 ms a token': { cost: (tokens) => 22 + 1.5 * tokens, factor: 1.1 },
  '15 + 1 ms a token': { cost: (tokens) => 15 + tokens, factor: 1.1 },
  '2 ms a token': { cost: (tokens) => 2 * tokens, factor: 1.01 },
  '30 ms a token': { cost: (tokens) => 30 * tokens, factor: 1.01 },
};

for (const [name, { cost, factor }] of Object.entries(models)) {
  test(`1000 tokens of a model of ${name} take little longer than in chunks of 16`, () => {
    const { totalMs, longestMs } = prefillMs(new PrefillPace(), 1000, cost);
    const inSixteens = 62 * cost(16) + cost(8);
    assert.ok(totalMs < factor * inSixteens, `${totalMs} ms instead of ${inSixteens}`);
    assert.ok(longestMs <= allowedMs(cost(1)), `a chunk took ${longestMs} ms`);
  });
}

test('one chunk finds out that the model has become slower', () => {
  const pace = new PrefillPace();
  for (let i = 0; i < 10; i++) pace.observe(pace.chunk, 0.1 * pace.chunk);
  assert.ok(pace.chunk > 200);
  pace.observe(pace.chunk, 5 * pace.chunk);
  assert.ok(5 * pace.chunk <= PASS_MS, `${pace.chunk} tokens`);
});

test('a model that has become faster or slower, and a pass that was interrupted for long, are got over', () => {
  const pace = new PrefillPace();
  const { cost } = models['45 + 3.5 ms a token'];
  for (const slowness of [1, 3, 1, 1 / 3, 1]) {
    const now: Cost = (tokens) => slowness * cost(tokens);
    pace.observe(pace.chunk, 500);
    const { totalMs } = prefillMs(pace, 1000, now);
    const inSixteens = 62 * now(16) + now(8);
    assert.ok(totalMs < 1.25 * inSixteens, `${slowness}: ${totalMs} ms instead of ${inSixteens}`);
  }
});
