import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DraftSearch } from '../../../engine/draft/draftSearch.ts';
import { textPath } from '../../../engine/draft/guess.ts';
import { LearnedSource } from '../../../engine/draft/learnedSource.ts';
import { emptyTree, ROOT } from '../../../engine/tree/tokenTree.ts';
import { TokenTreeBuilder } from '../../../engine/tree/tokenTreeBuilder.ts';

const text = textPath([1]);

function source() {
  const builder = new TokenTreeBuilder();
  const first = builder.add(ROOT, 10, Math.log(0.8), 'eagle3');
  builder.add(ROOT, 11, Math.log(0.1), 'eagle3');
  builder.add(first, 20, Math.log(0.5), 'eagle3');
  const learned = new LearnedSource('eagle3');
  learned.tree = builder.build(8);
  return learned;
}

test('its tree is walked node by node, with the probability of each given its parent', () => {
  const learned = source();
  const roots = learned.after(text, undefined);
  assert.deepEqual(
    roots.map(({ token }) => token),
    [10, 11],
  );
  const end = { token: 10, before: text, depth: 1 };
  const [below, ...others] = learned.after(end, roots[0]);
  assert.equal(below.token, 20);
  assert.ok(Math.abs(below.probability - 0.5) < 1e-6 && others.length === 0);
  assert.deepEqual(learned.after({ token: 11, before: text, depth: 1 }, roots[1]), []);
});

test('paths that others drafted, and steps in which it was not asked, have nothing from it', () => {
  const learned = source();
  assert.deepEqual(learned.after({ token: 10, before: text, depth: 1 }, undefined), []);
  learned.tree = emptyTree;
  assert.deepEqual(learned.after(text, undefined), []);
});

test('impossible tokens are no guesses, nor what is drafted after them', () => {
  const builder = new TokenTreeBuilder();
  const possible = builder.add(ROOT, 10, Math.log(0.8), 'eagle3');
  const impossible = builder.add(ROOT, 11, Number.NEGATIVE_INFINITY, 'eagle3');
  builder.add(possible, 20, Number.NEGATIVE_INFINITY, 'eagle3');
  builder.add(impossible, 21, Number.NEGATIVE_INFINITY, 'eagle3');
  const search = new DraftSearch([Object.assign(new LearnedSource('eagle3'), { tree: builder.build(8) })]);
  const tree = search.draft(text, { budget: 8, leastProbability: 0 });
  assert.deepEqual([...tree.tokens], [10]);
});

test('its belief is corrected by what came of it, for each depth apart', () => {
  const learned = source();
  for (let i = 0; i < 1000; i++) learned.learn(learned.after(text, undefined)[0], i % 2 === 0);
  const [first] = learned.after(text, undefined);
  assert.ok(Math.abs(first.probability - 0.5) < 0.05);
  const [second] = learned.after({ token: 10, before: text, depth: 1 }, first);
  assert.ok(Math.abs(second.probability - 0.5) < 1e-6);
});
