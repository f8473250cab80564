import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CostModel } from '../../../engine/cost/costModel.ts';
import { DraftTemperature } from '../../../engine/cost/draftTemperature.ts';
import { EagleDepth } from '../../../engine/draft/eagleDepth.ts';
import { ROOT, type TokenTree } from '../../../engine/tree/tokenTree.ts';
import { TokenTreeBuilder } from '../../../engine/tree/tokenTreeBuilder.ts';
import { Random } from '../../random.ts';

const place = { context: 100, pending: 1 };

/** A pass takes 1 ms, and every row after the first `rowMs` more. */
function costs(rowMs: number): CostModel {
  const nodeCounts = [1, 2, 4, 8, 16, 32];
  return new CostModel({
    nodeCounts,
    contexts: [128],
    ms: [nodeCounts.map((nodes) => 1 + rowMs * (nodes - 1))],
  });
}

/**
 * So many levels of `width` tokens each, all after the first one of the level before; the first ones are as sure as that,
 * their siblings next to impossible.
 */
function drafted(levels: number, width: number, sureness: number): TokenTree {
  const builder = new TokenTreeBuilder();
  for (let node = 0; node < levels * width; node++) {
    const parent = node < width ? ROOT : node - (node % width) - width;
    builder.add(parent, node, node % width === 0 ? Math.log(sureness) : -1000, 'eagle');
  }
  return builder.build(levels * width);
}

/** The path through the first tokens of them. */
function firstOfLevels(levels: number, width: number): number[] {
  return Array.from({ length: levels }, (_, level) => level * width);
}

interface Learned {
  readonly depth: EagleDepth;
  readonly temperature: DraftTemperature;
}

function beginner(rowMs: number): Learned {
  const temperature = new DraftTemperature();
  return { depth: new EagleDepth(costs(rowMs), temperature), temperature };
}

function observe({ depth, temperature }: Learned, tree: TokenTree, accepted: readonly number[]): void {
  depth.observe({ ...place, tree, accepted });
  temperature.observe(tree.logProbs, accepted.length);
}

interface World {
  readonly levelMs: number;
  readonly rowMs: number;
  /** How often a token is right after a right one. */
  readonly sureness: number;
  /** What the head takes that for. */
  readonly said: number;
}

/** Tokens a millisecond that chains come to whose levels end where `least` says. */
function rateOf(
  { levelMs, rowMs, sureness, said }: World,
  steps: number,
  least: (step: number) => number,
  seen?: Learned,
): number {
  const random = new Random(1);
  let [tokens, ms] = [0, 0];
  for (let step = 0; step < steps; step++) {
    let levels = 1;
    while (levels < 8 && levels * Math.log(said) > least(step)) levels++;
    let accepted = 0;
    while (accepted < levels && random.chance(sureness)) accepted++;
    const draftMs = 0.1 + levelMs * levels;
    seen?.depth.drafted(levels, draftMs);
    if (seen) observe(seen, drafted(levels, 1, said), firstOfLevels(accepted, 1));
    tokens += accepted + 1;
    ms += draftMs + 1 + rowMs * levels;
  }
  return tokens / ms;
}

const worlds: readonly World[] = [
  { levelMs: 0.05, rowMs: 0.02, sureness: 0.85, said: 0.85 },
  { levelMs: 0.05, rowMs: 0.02, sureness: 0.85, said: 0.6 },
  { levelMs: 0.15, rowMs: 0.1, sureness: 0.75, said: 0.75 },
  { levelMs: 0.3, rowMs: 0.1, sureness: 0.75, said: 0.75 },
  { levelMs: 0.3, rowMs: 0.1, sureness: 0.75, said: 0.5 },
  { levelMs: 0.4, rowMs: 0.2, sureness: 0.5, said: 0.5 },
  { levelMs: 0.4, rowMs: 0.2, sureness: 0.5, said: 0.8 },
];

for (const world of worlds) {
  test(`chains are about as deep as pays best: ${JSON.stringify(world)}`, () => {
    const seen = beginner(world.rowMs);
    const least = () => seen.depth.leastLogProb(place);
    rateOf(world, 200, least, seen);
    const learned = rateOf(world, 5000, least, seen);
    const fixed = Array.from({ length: 8 }, (_, levels) =>
      rateOf(world, 5000, () => (levels + 0.5) * Math.log(world.said)),
    );
    assert.ok(learned > 0.97 * Math.max(...fixed), `${learned} of ${fixed}`);
    assert.ok(learned > 1.02 * Math.min(...fixed));
  });
}

test('the dearer a level, the more probable its path has to be', () => {
  const leasts = [0.01, 0.1, 0.3].map((levelMs) => {
    const { depth } = beginner(0.05);
    for (let levels = 1; levels <= 8; levels++) depth.drafted(levels, 0.1 + levelMs * levels);
    return Math.exp(depth.leastLogProb(place));
  });
  assert.deepEqual(leasts, leasts.toSorted());
  assert.ok(leasts[0] < 0.2 && leasts[2] > 0.3 && leasts[2] <= 0.9, `${leasts}`);
});

test('a tree whose whole path is right is as sure as such a chain, and its siblings were no mistakes', () => {
  const leastAfter = (width: number, right: number) => {
    // Rows cost nothing, so that the two differ in what was right alone.
    const seen = beginner(1e-9);
    for (let i = 0; i < 200; i++) {
      seen.depth.drafted(1, 0.2);
      seen.depth.drafted(3, 0.4);
      observe(seen, drafted(3, width, 0.7), firstOfLevels(right, width));
    }
    return Math.exp(seen.depth.leastLogProb(place));
  };
  assert.ok(Math.abs(leastAfter(4, 3) - leastAfter(1, 3)) < 1e-6);
  assert.ok(Math.abs(leastAfter(4, 2) - leastAfter(1, 2)) < 1e-6, 'one in three was wrong of both');
  assert.ok(leastAfter(4, 0) > 2 * leastAfter(4, 3));
});
