import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mostProbableFirst } from '../../../engine/sampling/mostProbableFirst.ts';

test('all tokens come, the most probable first, the lower of equals first', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5), { maxLength: 40 }), (probs) => {
      const expected = [...probs.keys()].sort((a, b) => probs[b] - probs[a] || a - b);
      assert.deepEqual([...mostProbableFirst(Float64Array.from(probs))], expected);
    }),
    { numRuns: 1000 },
  );
});
