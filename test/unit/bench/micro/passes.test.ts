import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { draftShape, passFigures } from '../../../../engine/bench/micro/passes.ts';
import { ROOT } from '../../../../engine/tree/tokenTree.ts';
import { nodeDepths } from '../../../../engine/tree/treeShape.ts';

test('a batch is the last token and two drafts a level, of which the first goes on', () => {
  assert.deepEqual([...draftShape(8)], [ROOT, 0, 0, 1, 1, 3, 3, 5]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 64 }), (size) => {
      const parents = draftShape(size);
      assert.equal(parents.length, size);
      const depths = nodeDepths(parents);
      for (let node = 1; node < size; node++) assert.equal(depths[node], Math.ceil(node / 2));
    }),
  );
});

test('passes stand beside the one over a single token of the same context, warm and cold', () => {
  const time = (context: number, newTokens: number, warmMs: number, coldMs: number) => ({
    context,
    newTokens,
    warmMs,
    coldMs,
    tableMs: warmMs,
  });
  const figures = passFigures([
    time(128, 1, 2, 4),
    time(128, 4, 3, 4.4),
    time(512, 1, 5, 8),
    time(512, 4, 6, 16),
  ]);
  assert.deepEqual(
    figures.map(({ baseline }) => baseline?.measured),
    [undefined, 2, undefined, 5],
  );
  assert.equal(figures[1].remark, '1.50x; after other work 4.40, 1.10x; cost table 3.00');
  assert.equal(figures[3].remark, '1.20x; after other work 16.00, 2.00x; cost table 6.00');
});
