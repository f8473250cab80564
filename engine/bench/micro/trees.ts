import { openCheckpoint } from '../../compile/checkpoint.ts';
import { OPEN_BLOCK } from '../../compile/cpuAttention.ts';
import { CostModel } from '../../cost/costModel.ts';
import { CostController } from '../../decode/controller.ts';
import { closedMask, openMask } from '../../model/attentionMasks.ts';
import { type Random, seededRandom } from '../../seededRandom.ts';
import { takeMostProbable } from '../../tree/subtrees.ts';
import { ROOT, type TokenTree } from '../../tree/tokenTree.ts';
import { TokenTreeBuilder } from '../../tree/tokenTreeBuilder.ts';
import type { Figure } from '../report.ts';
import type { MicroBench, Subject } from './microBench.ts';
import { microseconds, shareText, shortMs } from './timing.ts';

const NODES = [8, 16, 32];
/** Few, so that trees of two sources have a good part of their paths in common, as real ones do. */
const ALTERNATIVES = 3;
/** Where a block of rows begins (cpuAttention), and where it ends: one token further, other rows are closed. */
const BLOCK_START = 512;
const BLOCK_END = BLOCK_START + OPEN_BLOCK - 1;
const CAPACITY = 576;

/** What a step does with a tree beside searching for it and evaluating it. */
export async function measureTrees(
  { runtime, seed }: MicroBench,
  modelDir: string,
  onePassMs: number,
): Promise<Subject> {
  const { heads, kvHeads } = (await openCheckpoint(modelDir)).architecture;
  const random = seededRandom(seed);
  const costs = new CostModel(runtime.costTable);
  const measure = () =>
    NODES.map((nodes) => ({
      nodes,
      ...treeTimes(nodes, random, new CostController(costs)),
      masks: maskTimes(nodes, heads / kvHeads),
    }));
  measure(); // Code is compiled anew when it first meets another size.
  const times = measure();
  return { figures: times.flatMap((time) => treeFigures(time, onePassMs)), faults: [], details: times };
}

/** Times in ms. */
interface TreeTimes {
  readonly nodes: number;
  readonly merge: number;
  readonly takeMostProbable: number;
  readonly choose: number;
  readonly masks: { readonly withinBlock: number; readonly acrossBlocks: number };
}

function treeTimes(
  nodes: number,
  random: Random,
  controller: CostController,
): Omit<TreeTimes, 'nodes' | 'masks'> {
  const tree = randomTree(nodes, random);
  const other = randomTree(nodes, random);
  const double = randomTree(2 * nodes, random);
  const place = { context: BLOCK_START, pending: 1, draftMs: 0.1 };
  return {
    merge: shortMs(() => merge([tree, other], nodes)),
    takeMostProbable: shortMs(() => takeMostProbable(double, nodes)),
    choose: shortMs(() => controller.choose(tree, place)),
  };
}

function maskTimes(nodes: number, group: number): TreeTimes['masks'] {
  const parents = wideTree(nodes + 1);
  const time = (length: number) => {
    const place = { length, capacity: CAPACITY };
    return shortMs(() => {
      closedMask(place, parents, group);
      openMask(place, parents, group);
    });
  };
  return { withinBlock: time(BLOCK_START), acrossBlocks: time(BLOCK_END) };
}

function treeFigures(times: TreeTimes, onePassMs: number): Figure[] {
  const { nodes, masks } = times;
  const figure = (name: string, ms: number): Figure => ({
    name: `${name}, ${nodes} nodes`,
    unit: 'us',
    measured: microseconds(ms),
    remark: shareText(ms, onePassMs),
  });
  return [
    figure('merge two trees', times.merge),
    figure('take the most probable half', times.takeMostProbable),
    figure('choose what to verify', times.choose),
    {
      ...figure('attention masks across blocks', masks.acrossBlocks),
      baseline: { name: 'within one', measured: microseconds(masks.withinBlock) },
    },
  ];
}

/** A tree of exactly `size` nodes, some deep and some wide. */
export function randomTree(size: number, random: Random): TokenTree {
  const builder = new TokenTreeBuilder();
  while (builder.size < size) {
    const parent = Math.floor(random() * (builder.size + 1)) - 1;
    builder.add(parent, Math.floor(random() * ALTERNATIVES), Math.log(0.1 + 0.8 * random()), 'document');
  }
  return builder.build(size);
}

/** @returns the `limit` most probable nodes of all trees */
export function merge(trees: readonly TokenTree[], limit: number): TokenTree {
  const builder = new TokenTreeBuilder();
  for (const { parents, tokens, logProbs, sources, size } of trees) {
    const merged: number[] = [];
    for (let node = 0; node < size; node++) {
      const parent = parents[node] === ROOT ? ROOT : merged[parents[node]];
      const given = parents[node] === ROOT ? 0 : logProbs[parents[node]];
      merged.push(builder.add(parent, tokens[node], logProbs[node] - given, sources[node]));
    }
  }
  return builder.build(limit);
}

/**
 * The last committed token and drafts with ALTERNATIVES after each: so shallow that 32 of them fit into a block.
 *
 * @returns parents // [size]
 */
export function wideTree(size: number): Int32Array {
  return Int32Array.from({ length: size }, (_, node) =>
    node === 0 ? ROOT : Math.floor((node - 1) / ALTERNATIVES),
  );
}
