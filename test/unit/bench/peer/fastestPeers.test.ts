import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fastestPeers } from '../../../../engine/bench/peer/fastestPeers.ts';
import type { Peer } from '../../../../engine/bench/peer/llamaCpp.ts';

const prompts = [1, 2, 3].map((length) => new Int32Array(length));

/** Takes these times for the three prompts. */
function timed(precision: 'f16' | 'q8_0', threads: number, timesMs: readonly number[]): Peer {
  return {
    setup: { precision, threads },
    generate: async (prompt, count) => ({
      tokens: Array(count).fill(0),
      prefillMs: 1000,
      decodeMs: timesMs[prompt.length - 1],
      numDraftTokens: 0,
      numAcceptedTokens: 0,
    }),
  };
}

test('of each kind the one with the smaller median stays, fastest kind first', async () => {
  const slow = timed('f16', 1, [9, 9, 9]);
  const disturbedOnce = timed('f16', 2, [5, 500, 5]);
  const fast = timed('q8_0', 1, [3, 3, 3]);
  const slower = timed('q8_0', 2, [1, 4, 4]);
  const chosen = await fastestPeers(
    [slow, disturbedOnce, slower, fast],
    { prompts, count: 8 },
    ({ precision }) => precision,
  );
  assert.deepEqual(chosen, [fast, disturbedOnce]);
});
