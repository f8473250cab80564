import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EagleDrafter } from '../../../engine/draft/eagle.ts';
import { treeOf } from '../../../engine/draft/proposal.ts';
import { ROOT } from '../../../engine/tree/tokenTree.ts';
import { nodeDepths } from '../../../engine/tree/treeShape.ts';
import { DraftHeads } from '../../draftHeads.ts';
import { EagleGolden, eagleHeads, eagleTargetDir } from '../../eagleGolden.ts';
import { goldenView } from './goldenView.ts';

const heads = new DraftHeads();

for (const name of eagleHeads) {
  test(`${name}: the static tree takes the published ranks, whatever their probabilities`, async () => {
    const golden = new EagleGolden(name);
    const description = await golden.openHead();
    const head = await heads.open(description, eagleTargetDir, 'fp32', 'given');
    const dynamic = await heads.open(description, eagleTargetDir, 'fp32');
    for (const prompt of ['p17', 'p200'] as const) {
      const view = goldenView(golden.tokens(prompt), await golden.features(prompt));
      const tree = treeOf(await new EagleDrafter(head).propose(view, 60));
      const levels = [0, 1, 2, 3, 4].map((level) =>
        nodeDepths(tree.parents).filter((depth) => depth === level),
      );
      assert.deepEqual(
        levels.map(({ length }) => length),
        [4, 8, 8, 3, 2],
      );
      // All that is in both trees is estimated alike: 40 wide, the dynamic tree holds all children of the first levels.
      const wide = treeOf(await new EagleDrafter(dynamic, { numSteps: 3, topk: 40 }).propose(view, 1e6));
      const ranksOf = (parent: number) =>
        [...wide.tokens.keys()].filter((node) => wide.parents[node] === parent);
      const twin = new Map([[ROOT, ROOT]]);
      for (let node = 0; node < tree.size; node++) {
        const parent = twin.get(tree.parents[node]);
        if (parent === undefined || nodeDepths(tree.parents)[node] > 2) continue;
        const found = ranksOf(parent).find((child) => wide.tokens[child] === tree.tokens[node]);
        if (found === undefined) continue;
        assert.ok(Math.abs(wide.logProbs[found] - tree.logProbs[node]) < 1e-3);
        twin.set(node, found);
      }
      assert.ok(twin.size > 12, `${twin.size} nodes compared`);
      // Node 4 and on: the three best children of the best child, and so on down the list.
      const best = ranksOf(twin.get(0)!).slice(0, 3);
      assert.deepEqual(
        [...tree.tokens.subarray(4, 7)],
        best.map((node) => wide.tokens[node]),
      );
    }
  });
}

test('a smaller budget takes the most probable part of the static tree', async () => {
  const golden = new EagleGolden('eagle1_trained');
  const head = await heads.open(await golden.openHead(), eagleTargetDir, 'fp32', 'given');
  const view = goldenView(golden.tokens('p17'), await golden.features('p17'));
  for (const budget of [1, 2, 7, 24]) {
    const tree = treeOf(await new EagleDrafter(head).propose(view, budget));
    assert.equal(tree.size, budget);
  }
  assert.equal(treeOf(await new EagleDrafter(head, { numSteps: 2 }).propose(view, 60)).size, 12);
});
