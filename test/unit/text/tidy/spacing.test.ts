import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinSpacing } from '../../../../engine/text/tidy/spacing.ts';
import { filterAt } from './tidyAt.ts';

test('a space is typed once', () => {
  assert.equal(filterAt(joinSpacing, 'x = │', ' 1'), '1');
  assert.equal(filterAt(joinSpacing, 'x =│', ' 1'), ' 1');
});

test('indentation is no spacing', () => {
  assert.equal(filterAt(joinSpacing, '  │', '  a'), '  a');
  assert.equal(filterAt(joinSpacing, 'f() { │', '\n  a'), '\n  a');
});
