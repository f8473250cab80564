import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ROOT, type TokenTree } from '../../../engine/tree/tokenTree.ts';
import { TokenTreeBuilder } from '../../../engine/tree/tokenTreeBuilder.ts';
import { greedyVerifier } from '../../../engine/verify/greedy.ts';

/** Random trees over few tokens, and random predictions after each node: paths of all lengths match. */
const cases = fc
  .tuple(
    fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), fc.nat(1)), {
      minLength: 20,
      maxLength: 60,
    }),
  )
  .chain(([list]) => {
    const builder = new TokenTreeBuilder();
    for (const [parent, token] of list)
      builder.add(Math.floor(parent * (builder.size + 1)) - 1, token, -1, 'document');
    const tree = builder.build(builder.size);
    const length = tree.size + 1;
    return fc.record({
      tree: fc.constant(tree),
      argmax: fc
        .array(fc.nat(1), { minLength: length, maxLength: length })
        .map((rows) => Int32Array.from(rows)),
    });
  });

/** Asks the target for one token at a time and looks for it among the children. */
function walk(tree: TokenTree, argmax: Int32Array) {
  const accepted: number[] = [];
  for (let parent = ROOT; ; parent = accepted.at(-1)!) {
    const next = argmax[parent + 1];
    const child = [...tree.tokens.keys()].find(
      (node) => tree.parents[node] === parent && tree.tokens[node] === next,
    );
    if (child === undefined) return { accepted, bonus: next };
    accepted.push(child);
  }
}

test("accepts what a walk from the root finds, and adds the target's own token", () => {
  let deepest = 0;
  fc.assert(
    fc.property(cases, ({ tree, argmax }) => {
      const verified = greedyVerifier.verify(tree, { argmax });
      assert.deepEqual(verified, walk(tree, argmax));
      deepest = Math.max(deepest, verified.accepted.length);
    }),
    { numRuns: 1000 },
  );
  assert.ok(deepest >= 3);
});
