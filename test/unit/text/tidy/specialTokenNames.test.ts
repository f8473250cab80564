import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutAtSpecialTokenNames } from '../../../../engine/text/tidy/specialTokenNames.ts';
import { filterAt } from './tidyAt.ts';

test('the text ends before a spelled out special token', () => {
  assert.equal(filterAt(cutAtSpecialTokenNames, 'x = │', 'a<|fim_middle|>b<|endoftext|>'), 'a');
  assert.equal(filterAt(cutAtSpecialTokenNames, 'x = │', 'a < b'), 'a < b');
});

test('a document about special tokens may go on with them', () => {
  assert.equal(filterAt(cutAtSpecialTokenNames, '"<|endoftext|>", │', '"<|endoftext|>"'), '"<|endoftext|>"');
});
