import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dropBlank } from '../../../../engine/text/tidy/blank.ts';
import { filterAt } from './tidyAt.ts';

test('white space alone is nothing', () => {
  assert.equal(filterAt(dropBlank, '│', ' \t\n '), '');
  assert.equal(filterAt(dropBlank, '│', ' a '), ' a ');
});
