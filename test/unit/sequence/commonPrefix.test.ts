import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { commonPrefix } from '../../../engine/sequence/commonPrefix.ts';

const tokens = fc.array(fc.nat(2), { maxLength: 12 });

test('the tokens up to the first difference, or to the end of the shorter sequence', () => {
  fc.assert(
    fc.property(tokens, tokens, (a, b) => {
      const common = commonPrefix(a, Int32Array.from(b));
      assert.deepEqual(a.slice(0, common), b.slice(0, common));
      assert.ok(common === Math.min(a.length, b.length) || a[common] !== b[common]);
    }),
  );
});
