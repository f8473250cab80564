import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { takeMostProbable, takeShallowest } from '../../../engine/tree/subtrees.ts';
import { draftSources, emptyTree, ROOT, type TokenTree } from '../../../engine/tree/tokenTree.ts';
import { TokenTreeBuilder } from '../../../engine/tree/tokenTreeBuilder.ts';
import { chainParents, nodeDepths } from '../../../engine/tree/treeShape.ts';

/** What a drafter may add: a parent among the nodes so far, a token, an estimate. */
const additions = fc.array(
  fc.record({
    parent: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    token: fc.nat(4),
    logProb: fc.oneof(fc.double({ min: -5, max: 0.5, noNaN: true }), fc.constant(Number.NEGATIVE_INFINITY)),
    source: fc.constantFrom(...draftSources),
  }),
  { maxLength: 40 },
);

type Addition =
  typeof additions extends fc.Arbitrary<infer A> ? (A extends (infer One)[] ? One : never) : never;

/** Adds them all, and keeps by path what should come of it: the best estimate of each path. */
function build(list: readonly Addition[], limit: number) {
  const builder = new TokenTreeBuilder();
  const paths: string[] = [];
  const best = new Map<string, number>();
  for (const { parent, token, logProb, source } of list) {
    const under = Math.floor(parent * (paths.length + 1)) - 1;
    const node = builder.add(under, token, logProb, source);
    const path = `${under === ROOT ? '' : paths[under]}/${token}`;
    const before = best.get(path);
    if (before === undefined) assert.equal(node, paths.length, 'a new path is a new node');
    else assert.equal(paths[node], path, 'a known path is its node');
    paths[node] = path;
    const parentLogProb = under === ROOT ? 0 : best.get(paths[under])!;
    best.set(path, Math.max(before ?? Number.NEGATIVE_INFINITY, parentLogProb + Math.min(0, logProb)));
  }
  assert.equal(builder.size, paths.length);
  return { tree: builder.build(limit), best };
}

function pathOf(tree: TokenTree, node: number): string {
  const parent = tree.parents[node];
  return `${parent === ROOT ? '' : pathOf(tree, parent)}/${tree.tokens[node]}`;
}

function assertIsTree(tree: TokenTree): void {
  for (const array of [tree.tokens, tree.parents, tree.logProbs, tree.sources])
    assert.equal(array.length, tree.size);
  for (let node = 0; node < tree.size; node++) {
    const parent = tree.parents[node];
    assert.ok(parent >= ROOT && parent < node);
    assert.ok(
      tree.logProbs[node] <= (parent === ROOT ? 0 : tree.logProbs[parent]),
      'never above its beginning',
    );
  }
  const paths = Array.from({ length: tree.size }, (_, node) => pathOf(tree, node));
  assert.equal(new Set(paths).size, tree.size, 'siblings are distinct');
}

test('sources merge: a path is one node with its best estimate', () => {
  fc.assert(
    fc.property(additions, (list) => {
      const { tree, best } = build(list, list.length);
      assertIsTree(tree);
      assert.equal(tree.size, best.size);
      for (let node = 0; node < tree.size; node++) {
        const expected = Math.fround(best.get(pathOf(tree, node))!);
        const parent = tree.parents[node];
        const bound = parent === ROOT ? 0 : tree.logProbs[parent];
        assert.equal(tree.logProbs[node], Math.min(expected, bound));
      }
    }),
    { numRuns: 500 },
  );
});

test('the most probable nodes of a tree are a tree, and none that is left out is more probable', () => {
  fc.assert(
    fc.property(additions, fc.nat(45), (list, count) => {
      const whole = build(list, list.length).tree;
      const part = takeMostProbable(whole, count);
      assertIsTree(part);
      assert.equal(part.size, Math.min(count, whole.size));
      const byPath = new Map(Array.from(whole.tokens, (_, node) => [pathOf(whole, node), node]));
      const kept = new Set(Array.from(part.tokens, (_, node) => byPath.get(pathOf(part, node))));
      assert.ok(!kept.has(undefined));
      const left = Array.from(whole.logProbs).filter((_, node) => !kept.has(node));
      assert.ok(part.logProbs.every((logProb) => left.every((other) => other <= logProb)));
      for (let node = 0; node < part.size; node++) {
        assert.equal(part.sources[node], whole.sources[byPath.get(pathOf(part, node))!]);
      }
      assert.deepEqual(build(list, count).tree, part);
    }),
    { numRuns: 500 },
  );
});

test('the shallowest levels of a tree are all its nodes up to there', () => {
  fc.assert(
    fc.property(additions, fc.nat(8), (list, levels) => {
      const whole = build(list, list.length).tree;
      const part = takeShallowest(whole, levels);
      assertIsTree(part);
      const expected = Array.from(whole.tokens, (_, node) => pathOf(whole, node)).filter(
        (path) => path.split('/').length - 1 <= levels,
      );
      assert.deepEqual(
        Array.from(part.tokens, (_, node) => pathOf(part, node)),
        expected,
      );
    }),
  );
});

test('nothing is cut from what is small enough', () => {
  const builder = new TokenTreeBuilder();
  builder.add(builder.add(ROOT, 1, -1, 'document'), 2, -1, 'document');
  const tree = builder.build(2);
  assert.equal(takeMostProbable(tree, 2), tree);
  assert.equal(takeShallowest(tree, 2), tree);
  assert.deepEqual(takeMostProbable(tree, 0), emptyTree);
  assert.deepEqual(takeShallowest(tree, 0), emptyTree);
});

test('drawn tokens keep the distribution that they were drawn from, however the tree is cut', () => {
  const probs = (seed: number) => Float64Array.of(seed, 1 - seed);
  const builder = new TokenTreeBuilder();
  const first = builder.addDrawn(ROOT, 1, -1, 'draftModel', probs(0.1));
  builder.add(first, 9, -3, 'document');
  const second = builder.addDrawn(ROOT, 0, -0.5, 'draftModel', probs(0.1));
  const below = builder.addDrawn(second, 1, -0.1, 'draftModel', probs(0.2));
  const whole = builder.build(4);
  assert.ok(whole.logProbs[second] <= whole.logProbs[first], 'siblings are cut in the order of their draws');
  assert.deepEqual([...whole.draftProbs!.keys()], [ROOT, second]);
  const part = takeMostProbable(whole, 3);
  assert.deepEqual([...part.tokens], [1, 0, 1]);
  assert.deepEqual(
    part.draftProbs,
    new Map([
      [ROOT, probs(0.1)],
      [1, probs(0.2)],
    ]),
  );
  assert.deepEqual(takeMostProbable(whole, 1).draftProbs, new Map([[ROOT, probs(0.1)]]));
  assert.equal(below, 3);
});

test('chosen and drawn tokens are never siblings', () => {
  const builder = new TokenTreeBuilder();
  const chosen = builder.add(ROOT, 1, -1, 'document');
  assert.throws(() => builder.addDrawn(ROOT, 2, -1, 'draftModel', Float64Array.of(1)), { code: 'internal' });
  builder.addDrawn(chosen, 2, -1, 'draftModel', Float64Array.of(1));
  assert.throws(() => builder.add(chosen, 2, -1, 'document'), { code: 'internal' });
});

test('depths count from the root', () => {
  assert.deepEqual([...nodeDepths(Int32Array.of(ROOT, 0, ROOT, 1, 1, 2))], [0, 1, 0, 2, 2, 1]);
  assert.deepEqual([...nodeDepths(chainParents(4))], [0, 1, 2, 3]);
  assert.equal(nodeDepths(chainParents(0)).length, 0);
});
