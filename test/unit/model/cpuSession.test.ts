import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSpinning } from '../../../engine/model/cpuSession.ts';

test('threads spin where a core is left to the editor, and a lone one waits for nobody', () => {
  for (const cores of [1, 2, 4, 16]) assert.ok(!isSpinning(1, cores));
  assert.ok(!isSpinning(2, 2) && !isSpinning(4, 2) && !isSpinning(8, 8));
  assert.ok(isSpinning(2, 4) && isSpinning(7, 8));
});
