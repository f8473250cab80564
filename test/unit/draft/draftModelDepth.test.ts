import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DepthByCost, type DepthRule, fixedDepth } from '../../../engine/draft/draftModelDepth.ts';
import type { CostTable } from '../../../engine/model/costTable.ts';

/** A pass over n tokens takes ms + (n - 1) * perToken. */
function table(ms: number, perToken: number): CostTable {
  return { nodeCounts: [1, 33], contexts: [128], ms: [[ms, ms + 32 * perToken]] };
}

/** Levels of a chain whose every token is accepted with this probability. */
function depthOf(rule: DepthRule, probability: number): number {
  let depth = 1;
  while (rule.another({ depth, frontier: [depth * Math.log(probability)], context: 200 })) depth++;
  return depth;
}

/** Tokens over time of a chain that is drafted and verified. */
function rate(depth: number, probability: number, draftMs: number, verifyMs: number, perRow: number): number {
  let expected = 1;
  for (let level = 1; level <= depth; level++) expected += probability ** level;
  return expected / (depth * draftMs + verifyMs + depth * perRow);
}

test('a fixed depth is a fixed depth', () => {
  assert.equal(depthOf(fixedDepth(5), 0.01), 5);
  assert.equal(depthOf(fixedDepth(1), 0.99), 1);
});

test('it stops where tokens over time are best, for any cost and any confidence', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.05, max: 0.97, noNaN: true }),
      fc.double({ min: 0.02, max: 2, noNaN: true }),
      fc.double({ min: 0, max: 0.5, noNaN: true }),
      (probability, draftMs, perRow) => {
        const costs = { draft: table(draftMs, 0), target: table(1, perRow) };
        const depth = depthOf(new DepthByCost(costs), probability);
        const rateAt = (levels: number) => rate(levels, probability, draftMs, 1, perRow);
        assert.ok(depth === 1 || rateAt(depth) >= rateAt(depth - 1) - 1e-9);
        assert.ok(depth === 12 || rateAt(depth) >= rateAt(depth + 1) - 1e-9);
      },
    ),
  );
});

test('a sure and cheap draft goes deep, a doubtful or dear one does not', () => {
  const cheap = { draft: table(0.1, 0), target: table(1, 0.05) };
  const dear = { draft: table(0.6, 0), target: table(1, 0.05) };
  assert.ok(depthOf(new DepthByCost(cheap), 0.95) > 6);
  assert.ok(depthOf(new DepthByCost(cheap), 0.3) <= 2);
  assert.ok(depthOf(new DepthByCost(dear), 0.6) <= 2);
});
