import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CostModel } from '../../../engine/cost/costModel.ts';
import type { DraftPlace } from '../../../engine/cost/draftChoice.ts';
import { DraftTemperature } from '../../../engine/cost/draftTemperature.ts';
import { CostController, fixedController, type StepOutcome } from '../../../engine/decode/controller.ts';
import type { CostTable } from '../../../engine/model/costTable.ts';
import { emptyTree, ROOT, type TokenTree } from '../../../engine/tree/tokenTree.ts';
import { TokenTreeBuilder } from '../../../engine/tree/tokenTreeBuilder.ts';

function table(...ms: number[]): CostTable {
  return { nodeCounts: [1, 2, 4, 8, 16, 32], contexts: [128], ms: [ms] };
}

/** A pass costs the same whatever it evaluates. */
const free = table(1, 1, 1, 1, 1, 1);
/** A pass costs as much as its tokens one by one. */
const proportional = table(1, 2, 4, 8, 16, 32);

function controllerOf(costs: CostTable): CostController {
  return new CostController(new CostModel(costs));
}

const place: DraftPlace = { context: 100, pending: 1, draftMs: 0 };

function chain(probability: number, length: number): TokenTree {
  const builder = new TokenTreeBuilder();
  let parent = ROOT;
  for (let i = 0; i < length; i++) parent = builder.add(parent, i, Math.log(probability), 'document');
  return builder.build(length);
}

const outcome: StepOutcome = {
  context: 100,
  nodes: 1,
  tree: emptyTree,
  accepted: 0,
  drafting: 'drafted',
  draftMs: 0.05,
  passMs: 1,
};

test('all of a tree is verified when a pass costs the same', () => {
  assert.equal(controllerOf(free).choose(chain(0.7, 20), place).size, 20);
});

test('nothing is verified when a pass costs as much as its tokens', () => {
  assert.equal(controllerOf(proportional).choose(chain(0.99, 20), place).size, 0);
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
      const chosen = controllerOf(costs).choose(tree, place);
      const sorted = [...tree.logProbs].sort((a, b) => b - a);
      for (let size = 0; size <= tree.size; size++) {
        const expected = sorted.slice(0, size).reduce((sum, logProb) => sum + Math.exp(logProb), 1);
        assert.ok(rate(chosen) >= (expected / msOf(size + 1)) * (1 - 1e-6), `${size} nodes would be better`);
      }
    }),
    { numRuns: 300 },
  );
});

test('a drafter that is right more often than it says has more verified, and less once it is wrong', () => {
  const costs = new CostModel(table(1, 1.2, 1.6, 2.4, 4, 7.2));
  const controller = new CostController(costs, new DraftTemperature());
  const chosen = () => controller.choose(chain(0.7, 8), place);
  const observe = (steps: number, right: (tree: TokenTree) => number) => {
    for (let step = 0; step < steps; step++) {
      const tree = chosen();
      controller.observe({ ...outcome, nodes: 1 + tree.size, tree, accepted: right(tree) });
    }
  };
  const first = chosen().size;
  observe(40, (tree) => tree.size);
  const whenRight = chosen().size;
  assert.ok(whenRight > first, `${first}, then ${whenRight}`);
  observe(400, () => 0);
  const whenWrong = chosen().size;
  assert.ok(whenWrong < first, `${first}, then ${whenWrong}`);
  observe(400, (tree) => tree.size);
  assert.equal(chosen().size, whenRight, 'what nothing was verified of for long gets another chance');
});

test('no other part of a small tree would be better', () => {
  const trees = fc.array(fc.tuple(fc.nat(7), fc.double({ min: -2, max: -0.01, noNaN: true })), {
    minLength: 1,
    maxLength: 8,
  });
  const times = fc.array(fc.double({ min: 0, max: 2, noNaN: true }), { minLength: 6, maxLength: 6 });
  fc.assert(
    fc.property(
      trees,
      times,
      fc.double({ min: 0, max: 2, noNaN: true }),
      (additions, increments, draftMs) => {
        let total = 1;
        const costs = table(...increments.map((increment) => (total += increment)));
        const builder = new TokenTreeBuilder();
        for (const [i, [parent, logProb]] of additions.entries()) {
          builder.add((parent % (builder.size + 1)) - 1, i, logProb, 'document');
        }
        const tree = builder.build(builder.size);
        const model = new CostModel(costs);
        const rateOf = (logProbs: readonly number[]) =>
          logProbs.reduce((sum, logProb) => sum + Math.exp(logProb), 1) /
          (draftMs + model.passMs(1 + logProbs.length, place.context));
        const chosen = controllerOf(costs).choose(tree, { ...place, draftMs });
        for (let subset = 0; subset < 1 << tree.size; subset++) {
          const nodes = [...tree.parents.keys()].filter((node) => subset & (1 << node));
          const isTree = nodes.every(
            (node) => tree.parents[node] === ROOT || subset & (1 << tree.parents[node]),
          );
          if (!isTree) continue;
          const rate = rateOf(nodes.map((node) => tree.logProbs[node]));
          assert.ok(rate <= rateOf([...chosen.logProbs]) * (1 + 1e-6), `nodes ${nodes} would be better`);
        }
      },
    ),
  );
});

test('tokens that are evaluated anyway make drafts cheaper', () => {
  const stepped = table(1, 4, 4, 4, 8, 16);
  assert.equal(controllerOf(stepped).choose(chain(0.6, 4), place).size, 0);
  assert.ok(controllerOf(stepped).choose(chain(0.6, 4), { ...place, pending: 2 }).size > 0);
});

test('what drafting has cost makes more of the tree worth verifying, as it is paid for already', () => {
  const tree = chain(0.6, 8);
  const sizes = [0, 1, 10].map(
    (draftMs) => controllerOf(proportional).choose(tree, { ...place, draftMs }).size,
  );
  assert.equal(sizes[0], 0);
  assert.ok(sizes[0] < sizes[1] && sizes[1] < sizes[2], `${sizes}`);
});

/** How often a drafter is asked in so many steps, each of which takes what `outcome` says. */
function timesAsked(
  controller: CostController,
  steps: number,
  outcomeOf: (step: number) => StepOutcome,
): number {
  let asked = 0;
  for (let step = 0; step < steps; step++) {
    const isAsked = controller.budget() > 0;
    if (isAsked) asked++;
    controller.observe(isAsked ? outcomeOf(step) : { ...outcome, drafting: 'notAsked', draftMs: 0 });
  }
  return asked;
}

test('a drafter whose drafts come to nothing pauses, longer and longer, and not for ever', () => {
  const controller = controllerOf(free);
  const useless = () => ({ ...outcome, drafted: 4 });
  assert.equal(timesAsked(controller, 6, useless), 6, 'a few useless steps are nothing unusual');
  const soon = timesAsked(controller, 60, useless);
  const later = timesAsked(controller, 60, useless);
  assert.ok(soon > later && later > 5, `${soon}, then ${later} of 60`);
});

test('a drafter that is right now and then, or costs nothing, never pauses', () => {
  const rightNowAndThen = (step: number) => ({ ...outcome, drafted: 4, accepted: step % 5 === 0 ? 1 : 0 });
  assert.equal(timesAsked(controllerOf(free), 100, rightNowAndThen), 100);
  assert.equal(
    timesAsked(controllerOf(free), 100, () => ({ ...outcome, draftMs: 0.001 })),
    100,
  );
});

test('a drafter that catches up does not pause, and what it was worth before stands', () => {
  const catchingUp: StepOutcome = { ...outcome, drafting: 'catchingUp', draftMs: 25 };
  assert.equal(
    timesAsked(controllerOf(free), 100, () => catchingUp),
    100,
  );
  const controller = controllerOf(free);
  timesAsked(controller, 100, () => ({ ...outcome, draftMs: 0.001 }));
  timesAsked(controller, 100, () => catchingUp);
  const cheap = () => ({ ...outcome, draftMs: 0.001 });
  assert.equal(timesAsked(controller, 100, cheap), 100, 'what catching up takes is no cost of drafts');
});

test('what passes really cost overrules the table', () => {
  const controller = controllerOf(proportional);
  assert.equal(controller.choose(chain(0.8, 8), place).size, 0);
  for (let i = 0; i < 2000; i++)
    controller.observe({ ...outcome, nodes: [1, 2, 4, 8, 16, 32][i % 6], accepted: 1 });
  assert.ok(controller.choose(chain(0.8, 8), place).size >= 4);
});

test('a pass that was interrupted for long, or took no time at all, does not turn costs upside down', () => {
  const controller = controllerOf(proportional);
  for (const passMs of [1e9, 0]) controller.observe({ ...outcome, passMs });
  assert.equal(controller.choose(chain(0.8, 8), place).size, 0);
  assert.equal(controllerOf(free).choose(chain(0.5, 8), { ...place, context: 1e6 }).size, 8);
});

test('a fixed number is drafted, paying or not', () => {
  const controller = fixedController(5);
  assert.equal(controller.budget(), 5);
  assert.equal(controller.choose(chain(0.01, 9), place).size, 5);
  controller.observe(outcome);
  assert.equal(controller.budget(), 5);
});
