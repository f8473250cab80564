import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realTextVerifier } from '../../../engine/bench/realTextVerifier.ts';
import { emptyTree, ROOT } from '../../../engine/tree/tokenTree.ts';
import { TokenTreeBuilder } from '../../../engine/tree/tokenTreeBuilder.ts';

const rows = { argmax: new Int32Array(8).fill(99) };

test('writes the real text, whatever the target predicts', () => {
  const verifier = realTextVerifier(Int32Array.of(1, 2, 3, 4, 5));
  assert.deepEqual(verifier.verify(emptyTree, rows), { accepted: [], bonus: 1 });
  const builder = new TokenTreeBuilder();
  const wrong = builder.add(ROOT, 9, -1, 'document');
  const right = builder.add(ROOT, 2, -1, 'document');
  builder.add(wrong, 3, -2, 'document');
  builder.add(right, 3, -2, 'document');
  const tree = builder.build(8);
  const { accepted, bonus } = verifier.verify(tree, rows);
  assert.deepEqual(
    accepted.map((node) => tree.tokens[node]),
    [2, 3],
  );
  assert.equal(bonus, 4);
});

test('goes on with the target past the end', () => {
  assert.equal(realTextVerifier(new Int32Array(0)).verify(emptyTree, rows).bonus, 99);
});
