import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indentLikeEditor } from '../../../../engine/text/tidy/indentation.ts';
import { filterAt } from './tidyAt.ts';

const tabs = { indentation: { insertSpaces: false, tabSize: 4 } };
const spaces = { indentation: { insertSpaces: true, tabSize: 4 } };

test('tabs become spaces where the editor inserts spaces', () => {
  assert.equal(filterAt(indentLikeEditor, 'f() {│', '\n\ta\n\t\tb\n}', spaces), '\n    a\n        b\n}');
  assert.equal(filterAt(indentLikeEditor, 'f() {│', '\n  \ta', spaces), '\n    a');
});

test('spaces become tabs where the editor inserts tabs, alignment stays', () => {
  assert.equal(filterAt(indentLikeEditor, 'f() {│', '\n    a\n          b\n}', tabs), '\n\ta\n\t\t  b\n}');
});

test('the first line counts only when it begins at the cursor', () => {
  assert.equal(filterAt(indentLikeEditor, '│', '\ta', spaces), '    a');
  assert.equal(filterAt(indentLikeEditor, 'x =│', '\ta', spaces), '\ta');
});

test('white space inside a line stays', () => {
  assert.equal(filterAt(indentLikeEditor, '│', 'a\t= 1', spaces), 'a\t= 1');
});
