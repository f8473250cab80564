import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keystrokeBefore } from '../../../engine/benchmark/keystrokeBefore.ts';

test('a keystroke types a character, or begins a line with its indentation', () => {
  assert.equal(keystrokeBefore('const a'), 'const ');
  assert.equal(keystrokeBefore('f(): void {\n\t'), 'f(): void {');
  assert.equal(keystrokeBefore('f() {\r\n    '), 'f() {');
  assert.equal(keystrokeBefore('f();\n'), 'f();');
  assert.equal(keystrokeBefore('"👩'), '"');
  assert.equal(keystrokeBefore('a'), '');
  assert.equal(keystrokeBefore(''), '');
});
