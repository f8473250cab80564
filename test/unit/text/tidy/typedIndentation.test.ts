import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dropTypedIndentation } from '../../../../engine/text/tidy/typedIndentation.ts';
import { filterAt } from './tidyAt.ts';

const drop = (marked: string, text: string) => filterAt(dropTypedIndentation, marked, text);
const tabs = { indentation: { insertSpaces: false, tabSize: 4 } };

test('what is typed is not written again', () => {
  assert.equal(drop('  │', '  a();\n  b();'), 'a();\n  b();');
  assert.equal(filterAt(dropTypedIndentation, '\t│', '\ta();\n\tb();', tabs), 'a();\n\tb();');
  assert.equal(filterAt(dropTypedIndentation, '    │', '\ta();', tabs), 'a();');
});

test('further indentation is added', () => {
  assert.equal(drop('  │', '    a();\n    b();'), '  a();\n    b();');
});

test('with less than is typed, all lines move right', () => {
  assert.equal(drop('    │', '  a() {\n    b();\n\n  }'), 'a() {\n      b();\n\n    }');
});

test('a blank first line moves nothing', () => {
  assert.equal(drop('    │', '\n  a();'), '\n  a();');
});

test('a line that was begun is left alone', () => {
  assert.equal(drop('  x = │', '  1'), '  1');
  assert.equal(drop('│', '  a();'), '  a();');
});
