import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renameBefore } from '../../../engine/benchmark/renameEdit.ts';

test('a name is renamed as a whole word and only when it is in use on both sides', () => {
  const before = 'count; counter; count; count;';
  assert.deepEqual(renameBefore(before, 'count + count'), {
    before: 'countValue; counter; countValue; countValue;',
    truth: 'countValue + countValue',
  });
  assert.equal(renameBefore('count;', 'count + count'), undefined);
  assert.equal(renameBefore(before, 'counter'), undefined);
  assert.equal(renameBefore('return; return; return;', 'return return'), undefined);
});
