import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RecycledSource, SUCCESSORS } from '../../../engine/draft/recycledSource.ts';
import { RecyclingDrafter } from '../../../engine/draft/recycling.ts';
import { SuccessorTable } from '../../../engine/draft/successorTable.ts';
import { emptyTree, ROOT, type TokenTree } from '../../../engine/tree/tokenTree.ts';
import { TokenTreeBuilder } from '../../../engine/tree/tokenTreeBuilder.ts';
import { newSessionId, prefixFirst, suffixFirst, VOCAB_SIZE } from './sessionView.ts';

/** Rows whose best successor is the given one, then others that nobody asks for. */
function rows(...best: number[]): Int32Array {
  return Int32Array.from(
    best.flatMap((token) => Array.from({ length: SUCCESSORS }, (_, i) => (token + i) % 80)),
  );
}

function chain(...tokens: number[]): TokenTree {
  const builder = new TokenTreeBuilder();
  let parent = ROOT;
  for (const token of tokens) parent = builder.add(parent, token, -0.1, 'document');
  return builder.build(tokens.length);
}

function bestPath({ size, tokens, parents }: TokenTree): number[] {
  const path: number[] = [];
  for (let node = 0, parent = ROOT; node < size; node++) {
    // Siblings enter best first.
    if (parents[node] !== parent) continue;
    path.push(tokens[node]);
    parent = node;
  }
  return path;
}

test('nothing is drafted before the target has said anything', () => {
  assert.equal(new RecyclingDrafter(VOCAB_SIZE).propose(suffixFirst({ prefix: [1, 2, 3] }), 8).size, 0);
});

test('what the target held most probable after a token is drafted after it, step after step', () => {
  const drafter = new RecyclingDrafter(VOCAB_SIZE);
  drafter.propose(suffixFirst({ prefix: [1] }), 8);
  drafter.observe({
    tree: chain(10, 20),
    root: 92,
    accepted: [0, 1],
    bonus: 30,
    successors: rows(10, 20, 30),
  });
  assert.deepEqual(bestPath(drafter.propose(suffixFirst({ prefix: [10] }), 8)).slice(0, 2), [20, 30]);
});

test('rejected drafts and steps without drafts teach as well', () => {
  const drafter = new RecyclingDrafter(VOCAB_SIZE);
  const view = suffixFirst({ prefix: [1] });
  drafter.propose(view, 8);
  drafter.observe({ tree: chain(10), root: 92, accepted: [], bonus: 11, successors: rows(11, 40) });
  assert.deepEqual(bestPath(drafter.propose(suffixFirst({ prefix: [10] }), 1)), [40]);
  drafter.observe({ tree: emptyTree, root: 55, accepted: [], bonus: 60, successors: rows(60) });
  assert.deepEqual(bestPath(drafter.propose(suffixFirst({ prefix: [55] }), 1)), [60]);
});

test('the longer context decides, the shorter one where nothing is known of the longer', () => {
  const drafter = new RecyclingDrafter(VOCAB_SIZE);
  const teach = (context: number[], best: number) => {
    drafter.propose(suffixFirst({ prefix: context, generated: [context.at(-1)!] }), 1);
    const root = context.at(-1)!;
    drafter.observe({ tree: emptyTree, root, accepted: [], bonus: best, successors: rows(best) });
  };
  teach([3, 4, 5], 10);
  teach([3, 6, 5], 20);
  const first = (generated: number[]) => {
    const id = newSessionId();
    return bestPath(drafter.propose(suffixFirst({ prefix: [1], generated }, id), 1))[0];
  };
  assert.equal(first([4, 5, 5]), 10);
  assert.equal(first([6, 5, 5]), 20);
  assert.equal(first([9, 8, 5]), 20, 'the newest');
});

for (const [order, view] of Object.entries({ suffixFirst, prefixFirst })) {
  test(`${order}: the first draft continues the text before the cursor, not the marker after it`, () => {
    const drafter = new RecyclingDrafter(VOCAB_SIZE);
    const tree = chain(7);
    drafter.propose(view({ prefix: [3], suffix: [8], generated: [5] }), 8);
    drafter.observe({ tree, root: 5, accepted: [0], bonus: 33, successors: rows(7, 33) });
    assert.deepEqual(bestPath(drafter.propose(view({ prefix: [5, 7], suffix: [4] }), 1)), [33]);
  });
}

test('the first row of a session belongs to the text before the cursor', () => {
  const drafter = new RecyclingDrafter(VOCAB_SIZE);
  drafter.propose(prefixFirst({ prefix: [1, 2, 3], suffix: [4] }), 8);
  drafter.observe({ tree: emptyTree, root: 92, accepted: [], bonus: 44, successors: rows(44) });
  assert.deepEqual(bestPath(drafter.propose(prefixFirst({ prefix: [9, 2, 3], suffix: [4] }), 1)), [44]);
});

test('estimates go to what the target accepts', () => {
  const drafter = new RecyclingDrafter(VOCAB_SIZE);
  const id = newSessionId();
  let tree = emptyTree;
  for (let i = 0; i < 600; i++) {
    tree = drafter.propose(suffixFirst({ prefix: [1], generated: [5, 6, 7] }, id), 1);
    const right = i % 4 === 0;
    drafter.observe({
      tree,
      root: 7,
      accepted: tree.size > 0 && right ? [0] : [],
      bonus: 13,
      successors: rows(...Array(tree.size + 1).fill(50)),
    });
  }
  assert.ok(Math.abs(Math.exp(tree.logProbs[0]) - 0.25) < 0.1);
});

test('proposals are well-formed trees within the budget, whatever the target says', () => {
  const token = fc.nat(9);
  const steps = fc.array(
    fc.record({ budget: fc.nat(24), known: fc.array(token, { minLength: 40, maxLength: 40 }), bonus: token }),
    { minLength: 1, maxLength: 20 },
  );
  fc.assert(
    fc.property(steps, (all) => {
      const drafter = new RecyclingDrafter(VOCAB_SIZE);
      const id = newSessionId();
      const generated = [1];
      for (const { budget, known, bonus } of all) {
        const tree = drafter.propose(suffixFirst({ prefix: [1, 2], generated }, id), budget);
        assert.ok(tree.size <= budget);
        const paths = new Set<string>();
        const path: string[] = [];
        for (let node = 0; node < tree.size; node++) {
          const parent = tree.parents[node];
          assert.ok(parent >= ROOT && parent < node);
          path[node] = `${parent === ROOT ? '' : path[parent]} ${tree.tokens[node]}`;
          assert.ok(!paths.has(path[node]));
          paths.add(path[node]);
          const above = parent === ROOT ? 0 : tree.logProbs[parent];
          assert.ok(Number.isFinite(tree.logProbs[node]) && tree.logProbs[node] <= above);
        }
        const accepted = tree.size > 0 && tree.parents[0] === ROOT ? [0] : [];
        const successors = rows(...Array.from({ length: tree.size + 1 }, (_, row) => known[row % 40]));
        const root = generated.at(-1)!;
        drafter.observe({ tree, root, accepted, bonus, successors });
        generated.push(...accepted.map((node) => tree.tokens[node]), bonus);
      }
    }),
  );
});

test('the table stays small for any vocabulary, keeps the newest and never mixes contexts up', () => {
  const source = new RecycledSource(150_000);
  assert.ok(source.bytes < 2e6);
  const table = new SuccessorTable(150_000, SUCCESSORS);
  const contexts = Array.from({ length: 200_000 }, (_, i) => Math.imul(i, 2_654_435_761) | 0);
  for (const [i, context] of contexts.entries()) table.refresh(context, rows(i % 80), 1 + i);
  let found = 0;
  for (const [i, context] of contexts.entries()) {
    const slot = table.find(context);
    if (slot < 0) continue;
    found++;
    assert.equal(table.successor(slot, 0), i % 80);
    assert.equal(table.session(slot), 1 + i);
  }
  assert.ok(found > 20_000 && found <= 65_536, `${found} of 65536 slots`);
  assert.ok(table.find(contexts.at(-1)!) >= 0);
});
