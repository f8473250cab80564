import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writesInCircles } from '../../../engine/bench/circles.ts';

const counting = (length: number) => Array.from({ length }, (_, i) => i);

test('a text that ends in repetition writes in circles', () => {
  for (const period of [1, 2, 7, 16]) {
    const circle = Array.from({ length: 80 }, (_, i) => i % period);
    assert.ok(writesInCircles([...counting(20), ...circle]), `period ${period}`);
  }
});

test('a text that goes on does not, nor one that says a thing twice', () => {
  assert.ok(!writesInCircles(counting(64)));
  assert.ok(!writesInCircles([...counting(20), ...counting(20)]));
  assert.ok(!writesInCircles([...Array(40).fill(1), ...counting(20)]));
  assert.ok(!writesInCircles([]));
});
