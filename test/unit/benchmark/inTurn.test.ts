import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { inTurn } from '../../../engine/benchmark/inTurn.ts';

test('every one begins once in as many turns as there are, and nobody is left out', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer(), { minLength: 1, maxLength: 8 }), fc.nat(100), (items, turn) => {
      const turns = items.map((_, i) => inTurn(items, turn + i));
      const sorted = [...items].sort();
      for (const order of turns) assert.deepEqual([...order].sort(), sorted);
      assert.deepEqual(turns.map(([first]) => first).sort(), sorted);
    }),
  );
});
