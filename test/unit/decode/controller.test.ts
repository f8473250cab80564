import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CostController, fixedController, type StepOutcome } from '../../../engine/decode/controller.ts';
import type { CostTable } from '../../../engine/model/costTable.ts';
import { ROOT, type TokenTree, TokenTreeBuilder } from '../../../engine/tree/tokenTree.ts';

function table(...ms: number[]): CostTable {
  return { nodeCounts: [1, 2, 4, 8, 16, 32], contexts: [128], ms: [ms] };
}

/** A pass costs the same whatever it evaluates. */
const free = table(1, 1, 1, 1, 1, 1);
/** A pass costs as much as its tokens one by one. */
const proportional = table(1, 2, 4, 8, 16, 32);

function chain(probability: number, length: number): TokenTree {
  const builder = new TokenTreeBuilder();
  let parent = ROOT;
  for (let i = 0; i < length; i++) parent = builder.add(parent, i, Math.log(probability), 'document');
  return builder.build(length);
}

const outcome: StepOutcome = { context: 100, nodes: 1, drafted: 0, accepted: 0, draftMs: 0.05, verifyMs: 1 };

test('all of a tree is verified when a pass costs the same', () => {
  assert.equal(new CostController(free).choose(chain(0.7, 20), 100, 1).size, 20);
});

test('nothing is verified when a pass costs as much as its tokens', () => {
  assert.equal(new CostController(proportional).choose(chain(0.99, 20), 100, 1).size, 0);
});

test('as many nodes as maximise expected tokens over time', () => {
  const trees = fc.array(
    fc.tuple(
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      fc.double({ min: -4, max: 0, noNaN: true }),
    ),
    { maxLength: 31 },
  );
  const times = fc.array(fc.double({ min: 0, max: 3, noNaN: true }), { minLength: 6, maxLength: 6 });
  fc.assert(
    fc.property(trees, times, (additions, increments) => {
      let total = 1;
      const costs = table(...increments.map((increment) => (total += increment)));
      const builder = new TokenTreeBuilder();
      for (const [i, [parent, logProb]] of additions.entries()) {
        builder.add(Math.floor(parent * (builder.size + 1)) - 1, i, logProb, 'document');
      }
      const tree = builder.build(builder.size);
      const msOf = (nodes: number) => {
        const counts = costs.nodeCounts;
        const i = Math.max(
          1,
          counts.findIndex((count) => count >= nodes),
        );
        const [row] = costs.ms;
        return row[i - 1] + ((row[i] - row[i - 1]) * (nodes - counts[i - 1])) / (counts[i] - counts[i - 1]);
      };
      const rate = (part: TokenTree) =>
        (1 + part.logProbs.reduce((sum, logProb) => sum + Math.exp(logProb), 0)) / msOf(part.size + 1);
      const chosen = new CostController(costs).choose(tree, 100, 1);
      const sorted = [...tree.logProbs].sort((a, b) => b - a);
      for (let size = 0; size <= tree.size; size++) {
        const expected = sorted.slice(0, size).reduce((sum, logProb) => sum + Math.exp(logProb), 1);
        assert.ok(rate(chosen) >= (expected / msOf(size + 1)) * (1 - 1e-6), `${size} nodes would be better`);
      }
    }),
    { numRuns: 300 },
  );
});

test('tokens that are evaluated anyway make drafts cheaper', () => {
  const stepped = table(1, 4, 4, 4, 8, 16);
  assert.equal(new CostController(stepped).choose(chain(0.6, 4), 100, 1).size, 0);
  assert.ok(new CostController(stepped).choose(chain(0.6, 4), 100, 2).size > 0);
});

test('a drafter whose drafts come to nothing pauses, and not for ever', () => {
  const controller = new CostController(free);
  const asked: boolean[] = [];
  for (let i = 0; i < 60; i++) {
    const budget = controller.budget();
    asked.push(budget > 0);
    controller.observe(budget > 0 ? { ...outcome, drafted: 4 } : { ...outcome, draftMs: undefined });
  }
  const times = asked.filter(Boolean).length;
  assert.ok(times > 5 && times < 15, `${times} of 60`);
});

test('a drafter that is right now and then, or costs nothing, never pauses', () => {
  const right = new CostController(free);
  const cheap = new CostController(free);
  for (let i = 0; i < 20; i++) {
    assert.ok(right.budget() > 0 && cheap.budget() > 0);
    right.observe({ ...outcome, drafted: 4, accepted: 1 });
    cheap.observe({ ...outcome, drafted: 4, draftMs: 0.001 });
  }
});

test('what passes really cost overrules the table', () => {
  const controller = new CostController(proportional);
  assert.equal(controller.choose(chain(0.8, 8), 100, 1).size, 0);
  for (let i = 0; i < 2000; i++)
    controller.observe({ ...outcome, nodes: [1, 2, 4, 8, 16, 32][i % 6], drafted: 1, accepted: 1 });
  assert.ok(controller.choose(chain(0.8, 8), 100, 1).size >= 4);
});

test('a pass that was interrupted for long, or took no time at all, does not turn costs upside down', () => {
  const controller = new CostController(proportional);
  for (const verifyMs of [1e9, 0]) controller.observe({ ...outcome, verifyMs });
  assert.equal(controller.choose(chain(0.8, 8), 100, 1).size, 0);
  assert.equal(new CostController(free).choose(chain(0.5, 8), 1e6, 1).size, 8);
});

test('a fixed number is drafted, paying or not', () => {
  const controller = fixedController(5);
  assert.equal(controller.budget(), 5);
  assert.equal(controller.choose(chain(0.01, 9), 100, 1).size, 5);
  controller.observe(outcome);
  assert.equal(controller.budget(), 5);
});
