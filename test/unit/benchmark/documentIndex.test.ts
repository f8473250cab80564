import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DocumentIndex } from '../../../engine/benchmark/documentIndex.ts';

/** One token a character. */
const tokenizer = { encode: (text: string) => Int32Array.from(text, (c) => c.charCodeAt(0)) };

test('what is held out of a document is not found until it is put back', () => {
  const index = new DocumentIndex(tokenizer, 256);
  index.add('a', 'let harbour = open(pier);');
  index.add('b', 'const other = 1;');
  const next = (text: string) =>
    index.ngrams
      .lookup(tokenizer.encode(text))
      .map((match) => String.fromCharCode(match.text.tokens[match.next]));
  assert.deepEqual(next('harbour = open('), ['p']);
  index.holdOut('a', 'let harbour = close');
  assert.ok(!next('harbour = open(').includes('p'));
  assert.deepEqual(next('const othe'), ['r']);
  index.restore('a');
  assert.deepEqual(next('harbour = open('), ['p']);
});

test('a document with CRLF is found by what models read of it', () => {
  const index = new DocumentIndex(tokenizer, 256);
  const text = 'let harbour = 1;\r\nlet pier = 2;\r\n';
  index.add('a', text);
  const found = () => index.ngrams.lookup(tokenizer.encode('= 1;\nlet pi')).length;
  assert.ok(found() > 0);
  index.holdOut('a', text);
  assert.ok(found() > 0);
});
