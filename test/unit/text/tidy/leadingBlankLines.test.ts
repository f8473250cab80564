import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dropLeadingBlankLines } from '../../../../engine/text/tidy/leadingBlankLines.ts';
import { filterAt } from './tidyAt.ts';

const drop = (marked: string, text: string) => filterAt(dropLeadingBlankLines, marked, text);

test('an empty line gets text, not another empty line', () => {
  assert.equal(drop('  │\n', '\n  \n  a();\n\n  b();'), '  a();\n\n  b();');
  assert.equal(drop('│', '\na();'), 'a();');
});

test('after something typed, a line break opens the next line', () => {
  assert.equal(drop('f() {│', '\n  a();'), '\n  a();');
});

test('empty lines alone leave nothing of themselves', () => {
  assert.equal(drop('  │\n', '\n\n'), '');
});
