import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trimTrailingSpace } from '../../../../engine/text/tidy/trailingSpace.ts';
import { filterAt } from './tidyAt.ts';

test('at the end of a line white space is dropped', () => {
  assert.equal(filterAt(trimTrailingSpace, 'x = │', 'a \n  \n'), 'a');
  assert.equal(filterAt(trimTrailingSpace, 'f(│)', 'a '), 'a');
});

test('before more text of the line a space may be meant', () => {
  assert.equal(filterAt(trimTrailingSpace, 'x = │+ 1', 'a '), 'a ');
});
