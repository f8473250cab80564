import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { merge, randomTree, wideTree } from '../../../../engine/bench/micro/trees.ts';
import { OPEN_BLOCK } from '../../../../engine/compile/cpuAttention.ts';
import { seededRandom } from '../../../../engine/seededRandom.ts';
import { ROOT, type TokenTree } from '../../../../engine/tree/tokenTree.ts';
import { nodeDepths } from '../../../../engine/tree/treeShape.ts';

const size = fc.integer({ min: 1, max: 40 });
const tree = fc.tuple(size, fc.nat()).map(([nodes, seed]) => randomTree(nodes, seededRandom(seed)));

/** Estimates by the tokens on the path. */
function paths({ parents, tokens, logProbs }: TokenTree): Map<string, number> {
  const texts: string[] = [];
  for (const [node, parent] of parents.entries()) {
    texts.push(`${parent === ROOT ? '' : texts[parent]}/${tokens[node]}`);
  }
  return new Map(texts.map((text, node) => [text, logProbs[node]]));
}

test('random trees have the size asked for, and no path twice', () => {
  fc.assert(
    fc.property(size, fc.nat(), (nodes, seed) => {
      const built = randomTree(nodes, seededRandom(seed));
      assert.equal(built.size, nodes);
      assert.equal(paths(built).size, nodes);
    }),
  );
});

test('a tree merged with itself is the same tree', () => {
  fc.assert(
    fc.property(tree, (one) => {
      const merged = merge([one, one], one.size);
      assert.deepEqual([...merged.tokens], [...one.tokens]);
      assert.deepEqual([...merged.parents], [...one.parents]);
    }),
  );
});

test('merged trees hold the paths of both, each with the larger estimate', () => {
  fc.assert(
    fc.property(tree, tree, (one, other) => {
      const [merged, first, second] = [merge([one, other], 100), one, other].map(paths);
      assert.deepEqual(new Set(merged.keys()), new Set([...first.keys(), ...second.keys()]));
      for (const [path, logProb] of merged) {
        const larger = Math.max(first.get(path) ?? -Infinity, second.get(path) ?? -Infinity);
        // What follows a path is added to it as it was given: a path raised by one tree raises the other's.
        assert.ok(logProb >= larger - 1e-4, `${path}: ${logProb}, ${larger}`);
      }
    }),
  );
});

test('the trees for the masks fit into a block of rows', () => {
  for (const nodes of [8, 16, 32]) {
    const depths = nodeDepths(wideTree(nodes + 1));
    assert.equal(depths.length, nodes + 1);
    assert.ok(Math.max(...depths) < OPEN_BLOCK);
  }
});
