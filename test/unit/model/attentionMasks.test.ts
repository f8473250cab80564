import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { closedRows, exactDepth, OPEN_BLOCK, OPEN_ROWS } from '../../../engine/compile/cpuAttention.ts';
import { closedMask, HIDDEN, openMask } from '../../../engine/model/attentionMasks.ts';
import { ROOT } from '../../../engine/tree/tokenTree.ts';
import { nodeDepths } from '../../../engine/tree/treeShape.ts';

const batches = fc.record({
  length: fc.nat(300),
  group: fc.integer({ min: 1, max: 4 }),
  parents: fc
    .array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { minLength: 1, maxLength: 70 })
    .map((choices) => Int32Array.from(choices, (choice, node) => Math.floor(choice * (node + 1)) - 1)),
});
/** Chains, which are deeper than random trees. */
const chains = batches.map((batch) => ({ ...batch, parents: batch.parents.map((_, node) => node - 1) }));

const CAPACITY = 384;

/** Every position that node `node` reads, by mask: committed rows, then nodes as -1 - node. */
function readBy(node: number, length: number, parents: Int32Array, group: number, head: number): number[] {
  const size = parents.length;
  const place = { length, capacity: CAPACITY };
  const closed = closedMask(place, parents, group);
  const open = openMask(place, parents, group);
  const rows = closed.length / CAPACITY;
  assert.ok(rows === 1 || rows === group * size);
  assert.equal(open.length, group * size * (OPEN_ROWS + size));
  const closedRow = rows === 1 ? 0 : head * size + node;
  const openRow = head * size + node;
  const seen: number[] = [];
  for (let position = 0; position < CAPACITY; position++) {
    if (closed[closedRow * CAPACITY + position] === 0) seen.push(position);
    else assert.equal(closed[closedRow * CAPACITY + position], Math.fround(HIDDEN));
  }
  for (let i = 0; i < OPEN_ROWS + size; i++) {
    if (open[openRow * (OPEN_ROWS + size) + i] !== 0) continue;
    seen.push(i < OPEN_ROWS ? closedRows(length) + i : -1 - (i - OPEN_ROWS));
  }
  return seen;
}

test('a token reads every committed row once, its ancestors and itself, for every query head', () => {
  fc.assert(
    fc.property(fc.oneof(batches, chains), fc.nat(), ({ length, group, parents }, choice) => {
      const node = choice % parents.length;
      const ancestors: number[] = [];
      for (let seen = node; seen !== ROOT; seen = parents[seen]) ancestors.unshift(-1 - seen);
      const expected = [...Array(length).keys(), ...ancestors].sort((a, b) => a - b);
      for (let head = 0; head < group; head++) {
        const seen = readBy(node, length, parents, group, head);
        assert.deepEqual(
          seen.sort((a, b) => a - b),
          expected,
        );
      }
    }),
    { numRuns: 400 },
  );
});

test('which rows are closed for a token depends on its position alone, in batches that are not too deep', () => {
  fc.assert(
    fc.property(fc.oneof(batches, chains), ({ length, parents }) => {
      const place = { length, capacity: CAPACITY };
      const closed = closedMask(place, parents, 1);
      const depths = nodeDepths(parents);
      for (const [node, depth] of depths.entries()) {
        if (depth >= exactDepth(length)) continue;
        const row = closed.length === CAPACITY ? 0 : node;
        const count = closed
          .subarray(row * CAPACITY, (row + 1) * CAPACITY)
          .filter((value) => value === 0).length;
        assert.equal(count, closedRows(length + depth));
      }
    }),
    { numRuns: 400 },
  );
});

test('closed rows are whole blocks, a block away or more, and never fewer further on', () => {
  for (let position = 0; position < 500; position++) {
    const closed = closedRows(position);
    assert.equal(closed % OPEN_BLOCK, 0);
    assert.ok(closed >= 0 && (closed === 0 || position - closed >= OPEN_BLOCK));
    assert.ok(position - closed < OPEN_ROWS);
    assert.ok(closed <= closedRows(position + 1));
    assert.ok(exactDepth(position) > OPEN_BLOCK && exactDepth(position) <= 2 * OPEN_BLOCK);
  }
});
