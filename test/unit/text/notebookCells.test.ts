import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { cellsAround } from '../../../engine/text/notebookCells.ts';

const [a, b, c] = ['a', 'b', 'c'].map((name) => TextDocument.create(`file:///${name}`, 'python', 1, name));

test('the cells of a notebook around one, and nothing around the only one', () => {
  assert.deepEqual(cellsAround(b, [a, b, c]), { before: 'a\n\n', after: '\n\nc' });
  assert.deepEqual(cellsAround(c, [a, b, c]), { before: 'a\n\nb\n\n', after: '' });
  assert.deepEqual(cellsAround(a, [a]), { before: '', after: '' });
});

test('prose between cells of code is left out', () => {
  const prose = TextDocument.create('file:///prose', 'markdown', 1, 'A title');
  assert.deepEqual(cellsAround(b, [prose, a, prose, b, c]), { before: 'a\n\n', after: '\n\nc' });
  assert.deepEqual(cellsAround(prose, [a, prose, b]), { before: '', after: '' });
});
