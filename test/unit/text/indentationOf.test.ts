import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indentationOf } from '../../../engine/text/indentationOf.ts';

test('the shallowest indentation is the step', () => {
  assert.deepEqual(indentationOf('a\n    b\n        c\n'), { insertSpaces: true, tabSize: 4 });
  assert.deepEqual(indentationOf('a\n    b\n  c\n'), { insertSpaces: true, tabSize: 2 });
});

test('one line that begins with a tab says tabs', () => {
  assert.deepEqual(indentationOf('a\n\tb\n'), { insertSpaces: false, tabSize: 4 });
});

test('a space before a comment star is no step', () => {
  assert.deepEqual(indentationOf('/**\n * a\n */\n'), { insertSpaces: true, tabSize: 4 });
});

test('a file of many lines is looked at like any other', () => {
  const text = `{\n${'   "a": 1,\n'.repeat(200_000)}}\n`;
  assert.deepEqual(indentationOf(text), { insertSpaces: true, tabSize: 3 });
});
