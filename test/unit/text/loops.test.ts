import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLooping, repeatedWords } from '../../../engine/text/loops.ts';

const phrase = 'foo(bar, baz), ';
/** Nothing in it repeats. */
const words = (count: number) =>
  Array.from({ length: count }, (_, i) => `v${i}_${(i * 7919) % 997}`).join(' + ');

test('a phrase that comes again and again is a loop, however far into its line', () => {
  for (const before of ['x = [', words(20), words(500)]) {
    assert.ok(!isLooping(before), `${before.length} characters before it`);
    assert.ok(isLooping(before + phrase.repeat(6)), `${before.length} characters before it`);
  }
});

test('its first copy stays', () => {
  const before = `${words(200)} `;
  assert.equal(repeatedWords(before + phrase.repeat(6)), (before + phrase).length);
});
