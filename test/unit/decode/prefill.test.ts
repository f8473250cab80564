import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PrefillPace } from '../../../engine/decode/prefill.ts';

/** How long a pass may take: a cancel is felt within twice that. */
const PASS_MS = 25;

test('a chunk takes no longer than a pass may, however fast the model is and was', () => {
  const speeds = fc.array(fc.double({ min: 0.001, max: 100, noNaN: true }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(speeds, (msPerToken) => {
      const pace = new PrefillPace();
      for (const ms of msPerToken) {
        // One chunk finds out that the model has become slower.
        pace.observe(pace.chunk, pace.chunk * ms);
        for (let i = 0; i < 12; i++) {
          const { chunk } = pace;
          assert.ok(chunk >= 1 && chunk <= 256, `${chunk} tokens`);
          assert.ok(chunk === 1 || chunk * ms <= PASS_MS, `${chunk} tokens of ${ms} ms each`);
          pace.observe(chunk, chunk * ms);
        }
        // Nor much less than fits, or a prompt would take more passes than it has to.
        assert.ok(
          pace.chunk >= Math.min(256, Math.floor(PASS_MS / ms) - 1),
          `${pace.chunk} of ${ms} ms each`,
        );
      }
    }),
  );
});
