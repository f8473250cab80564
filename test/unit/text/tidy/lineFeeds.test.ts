import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineFeeds } from '../../../../engine/text/tidy/lineFeeds.ts';
import { filterAt } from './tidyAt.ts';

test('all line ends become line feeds', () => {
  assert.equal(filterAt(lineFeeds, '│', 'a\r\nb\rc\n'), 'a\nb\nc\n');
});
