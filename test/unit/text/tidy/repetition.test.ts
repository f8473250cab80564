import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutRepetition } from '../../../../engine/text/tidy/repetition.ts';
import { leastMs } from '../../../leastMs.ts';
import { filterAt } from './tidyAt.ts';

const cut = (text: string) => filterAt(cutRepetition, '│', text);

test('a line three times in a row is kept once', () => {
  assert.equal(cut('a();\nb();\nb();\nb();\nc();'), 'a();\nb();');
  assert.equal(cut('a();\nb();\nb();\nc();'), 'a();\nb();\nb();\nc();');
});

test('several lines three times in a row are kept once', () => {
  assert.equal(cut('if (a) {\n  b();\n}\n'.repeat(3)), 'if (a) {\n  b();\n}');
});

test('closing brackets and blank lines may repeat', () => {
  const nested = '[\n]\n]\n]\n\n\n\n\nx';
  assert.equal(cut(nested), nested);
});

test('words that loop within a line are kept once', () => {
  assert.equal(cut('x.parent.x.parent.x.parent.x.pa'), 'x.parent.');
  assert.equal(cut('n >= 0 ? n >= 0 ? n >= 0 ? n >'), 'n >= 0 ? ');
  assert.equal(cut(`from "${'/"'.repeat(12)}`), 'from "/"/"/');
  assert.equal(cut('[0, 0, 0, 0, 0, 0, 0, 0]'), '[0, 0, 0, 0, 0, 0, 0, 0]');
  assert.equal(cut('================'), '================');
});

test('a megabyte takes no time', () => {
  for (const text of ['ab'.repeat(500_000), 'a\nb\n'.repeat(100_000)]) {
    assert.ok(leastMs(() => cut(text)) < 250);
  }
});
