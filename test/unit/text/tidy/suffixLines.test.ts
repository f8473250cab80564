import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutSuffixLines } from '../../../../engine/text/tidy/suffixLines.ts';
import { filterAt } from './tidyAt.ts';

const cut = (marked: string, text: string) => filterAt(cutSuffixLines, marked, text);

test('lines that stand below already are dropped', () => {
  assert.equal(cut('  │\n  b();\n  c();\n', '  a();\n  b();'), '  a();');
  assert.equal(cut('  │\n  b();\n  c();\n', 'a();\n  b();\n  c();'), 'a();');
  assert.equal(cut('  │\n\n  b();\n  c();\n', 'a();\n\n  b();\n  c();\n'), 'a();\n');
});

test('a suggestion of nothing else is dropped', () => {
  assert.equal(cut('  │\n  b();\n', '  b();'), '');
  assert.equal(cut('│\n  b();\n', '  b();\n'), '');
});

test('the last line may be cut off', () => {
  assert.equal(cut('  │\n  readAllLines(path);\n', 'a();\n  readAllLi'), 'a();');
  assert.equal(cut('  │\n  readAllLines(path);\n', 'a();\n  read'), 'a();\n  read');
});

test('a closing bracket is that of its own indentation', () => {
  assert.equal(cut('f() {│\n}', '\n  a();\n}'), '\n  a();');
  assert.equal(cut('f() {\n  if (a) {│\n}', '\n    a();\n  }'), '\n    a();\n  }');
});

test('what goes on differently stays', () => {
  assert.equal(cut('  │\n  b();\n  c();\n', 'b();\n  x();'), 'b();\n  x();');
  assert.equal(cut('  │', 'b();'), 'b();');
});

test('a line that was begun is new', () => {
  assert.equal(cut('  b│\n  b();\n', '();'), '();');
});

test('Windows line ends make no difference', () => {
  assert.equal(cut('  │\r\n  b();\r\n', 'a();\n  b();'), 'a();');
});
