import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renameHalfway } from '../../../../engine/benchmark/tasks/renameHalfway.ts';

function halfway(before: string, lines: string, below = '') {
  return renameHalfway(before + lines + below, { start: before.length, end: before.length + lines.length });
}

test('a name is renamed as a whole word above and in the lines; they stand below as they were, indented', () => {
  assert.deepEqual(halfway('count; counter; count; count;\n  ', 'count + count', '\n}'), {
    before: 'countValue; counter; countValue; countValue;\n  ',
    realText: 'countValue + countValue',
    after: '\n  count + count\n}',
  });
});

test('the longest name in use on both sides is chosen', () => {
  const above = 'total totals total totals total totals\n';
  assert.match(halfway(above, 'total(totals, total, totals)')!.realText, /^total\(totalsValue/);
});

test('there is no edit without a name that is used enough, and none of a keyword', () => {
  const above = 'count; count; count;\n';
  assert.equal(halfway('count;\n', 'count + count'), undefined);
  assert.equal(halfway(above, 'count'), undefined);
  assert.equal(halfway(above, 'counter + counter'), undefined);
  assert.equal(halfway('return; return; return;\n', 'return return'), undefined);
});

test('line breaks stay of one kind', () => {
  assert.equal(halfway('count\r\ncount\r\ncount\r\n', 'count + count')!.after, '\r\ncount + count');
});
