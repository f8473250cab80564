import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SuggestionShape, suggestionShape } from '../../../engine/text/suggestionShape.ts';
import { pointAt } from './cursorMark.ts';

const places: [marked: string, shape: SuggestionShape][] = [
  ['│', 'statements'],
  ['function f() {\n  │\n}', 'statements'],
  ['function f() {\n  │\n  b();\n}', 'wholeLine'],
  ['function f() {\r\n  │\r\n    .b();\r\n}', 'wholeLine'],
  ['function f() {\n  │\n\n  b();\n}', 'statements'],
  ['function f() {\n    │\n  b();\n}', 'statements'],
  ['f({\n  │\n  });\n', 'statements'],
  ['function f() {│', 'openedBlock'],
  ['function f() {│}', 'openedBlock'],
  ['function f() {│\n}\nnext();', 'openedBlock'],
  ['function f() {│\n  body();\n}', 'line'],
  ['def f():│\n\ndef g(): pass', 'openedBlock'],
  ['xs.map((x) =>│)', 'openedBlock'],
  ['if a then│', 'openedBlock'],
  ['const x = │', 'line'],
  ['const x = │;', 'line'],
  ['const x = │y + 1;', 'line'],
  ['foo(│, b) {', 'line'],
  ['│foo', 'line'],
  ['\tif (a) {│\r\n\t}\r\n', 'openedBlock'],
];

for (const [marked, shape] of places) {
  test(`the shape at ${JSON.stringify(marked)} is ${shape}`, () => {
    assert.equal(suggestionShape(pointAt(marked), 4), shape);
  });
}
