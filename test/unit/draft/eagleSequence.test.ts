/** Whatever happened before, a drafter proposes what a fresh one would: nothing of another text stays in its rows. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCheckpoint } from '../../../engine/compile/checkpoint.ts';
import { openHead } from '../../../engine/compile/heads/openHead.ts';
import type { SessionView } from '../../../engine/draft/drafter.ts';
import { EagleDrafter, type EagleOptions } from '../../../engine/draft/eagle.ts';
import { EagleSequence } from '../../../engine/draft/eagleSequence.ts';
import { catchingUp, treeOf } from '../../../engine/draft/proposal.ts';
import type { DraftHead } from '../../../engine/model/draftHead.ts';
import type { TokenTree } from '../../../engine/tree/tokenTree.ts';
import { DraftHeads } from '../../draftHeads.ts';
import { Random } from '../../random.ts';
import { tinyShape, writeRandomCheckpoint } from '../../randomCheckpoint.ts';
import { type RandomHeadKind, writeRandomHead } from '../../randomHead.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const heads = new DraftHeads();
const folder = temporaryFolder();
const targetShape = { ...tinyShape, layers: 6 };
const targetDir = writeRandomCheckpoint(join(folder, 'target'), targetShape, 1);
const { vocabSize } = tinyShape;
/** Rows lie elsewhere, so sums have another order, and a random head makes much of little. */
const TOLERANCE = 1e-3;

/** @param window positions that the head was trained on */
async function randomHead(kind: RandomHeadKind, window = tinyShape.contextLength): Promise<DraftHead> {
  const dir = join(folder, `${kind}-${window}`);
  writeRandomHead(dir, kind, { ...targetShape, contextLength: window }, 7);
  const head = await openHead(dir, (await openCheckpoint(targetDir)).architecture);
  if (head.kind === 'medusa') throw new Error('a Medusa head');
  return heads.open(head, targetDir, 'fp32');
}

/** A target's features, as far as a head can tell: random, and decided by all tokens up to their position. */
function featuresOf(tokens: Int32Array, width: number): Float32Array {
  const features = new Float32Array(tokens.length * width);
  let hash = 17;
  for (const [position, token] of tokens.entries()) {
    hash = (Math.imul(hash, 31) + token + 1) | 0;
    const random = new Random(hash);
    for (let i = 0; i < width; i++) features[position * width + i] = 2 * random.next() - 1;
  }
  return features;
}

let sessions = 0;

function viewOf(tokens: Int32Array, width: number, pending = 1): SessionView {
  const features = featuresOf(tokens, width);
  return {
    id: ++sessions,
    tokens,
    promptLength: tokens.length,
    prefix: { start: 0, end: tokens.length },
    suffix: { start: 0, end: 0 },
    hidden: {
      length: tokens.length - pending,
      width,
      slice: (start, end) => features.subarray(start * width, end * width),
    },
  };
}

function someTokens(length: number, random: Random): Int32Array {
  return Int32Array.from({ length }, () => random.below(vocabSize));
}

const descending = (tree: TokenTree) => tree.logProbs.slice().sort((a, b) => b - a);

function largestDifference(a: TokenTree, b: TokenTree): number {
  assert.equal(a.size, b.size);
  const expected = descending(b);
  return descending(a).reduce((worst, value, i) => Math.max(worst, Math.abs(value - expected[i])), 0);
}

/** A text that is typed on, cut back, edited in the middle, left for another one and come back to. */
function nextText(texts: Int32Array[], random: Random): Int32Array {
  const index = random.below(texts.length);
  const text = texts[index];
  const kept = random.chance(0.5) ? text.length : 1 + random.below(text.length);
  const next = Int32Array.from([...text.subarray(0, kept), ...someTokens(random.below(9), random)]);
  texts[index] = next.length > 400 || next.length < 2 ? someTokens(2 + random.below(150), random) : next;
  return texts[index];
}

const shapes: Record<string, EagleOptions> = {
  'a chain': { numSteps: 5, topk: 1, numDraftTokens: 5 },
  'a tree': { numSteps: 4, topk: 3, numDraftTokens: 12 },
};

for (const kind of ['eagle', 'eagle3'] as const) {
  for (const window of [24, tinyShape.contextLength]) {
    for (const [shape, options] of Object.entries(shapes)) {
      test(`${kind}, window ${window}: ${shape} is what a fresh drafter proposes`, async () => {
        const head = await randomHead(kind, window);
        const { featureWidth } = head.info;
        const random = new Random(window + shape.length);
        const drafter = new EagleDrafter(head, options);
        const texts = Array.from({ length: 6 }, () => someTokens(2 + random.below(120), random));
        for (let step = 0; step < 120; step++) {
          const text = nextText(texts, random);
          const view = viewOf(text, featureWidth, random.chance(0.1) ? 2 : 1);
          const budget = 1 + random.below(12);
          const proposed = treeOf(await drafter.propose(view, budget));
          const fresh = treeOf(await new EagleDrafter(head, options).propose(view, budget));
          assert.ok(largestDifference(proposed, fresh) < TOLERANCE, `step ${step}, ${text.length} tokens`);
          assert.equal(proposed.size === 0, view.hidden.length < text.length - 1);
        }
      });
    }
  }
}

test('the comparison sees a single feature that is not the own', async () => {
  const head = await randomHead('eagle3');
  const tokens = someTokens(60, new Random(3));
  const { featureWidth } = head.info;
  const options = shapes['a tree'];
  const right = viewOf(tokens, featureWidth);
  const other = viewOf(tokens.with(20, (tokens[20] + 1) % vocabSize), featureWidth);
  const mixed: SessionView = {
    ...right,
    hidden: {
      ...right.hidden,
      slice: (start, end) => {
        const rows = right.hidden.slice(start, end).slice();
        if (start <= 20 && end > 20) rows.set(other.hidden.slice(20, 21), (20 - start) * featureWidth);
        return rows;
      },
    },
  };
  const propose = async (view: SessionView) =>
    treeOf(await new EagleDrafter(head, options).propose(view, 12));
  assert.ok(largestDifference(await propose(right), await propose(mixed)) > 10 * TOLERANCE);
});

test('what lies before the window is not seen, what lies inside is', async () => {
  const head = await randomHead('eagle', 24);
  const { featureWidth } = head.info;
  const tokens = someTokens(100, new Random(4));
  const options = { numSteps: 1, topk: 3, numDraftTokens: 3 };
  const propose = async (view: SessionView) => treeOf(await new EagleDrafter(head, options).propose(view, 3));
  const changed = (position: number): SessionView => {
    const view = viewOf(tokens, featureWidth);
    const features = featuresOf(tokens, featureWidth);
    features.fill(1, position * featureWidth, (position + 1) * featureWidth);
    const slice = (start: number, end: number) => features.subarray(start * featureWidth, end * featureWidth);
    return { ...view, hidden: { ...view.hidden, slice } };
  };
  const expected = await propose(viewOf(tokens, featureWidth));
  // Pairs 0 to 98; the last one sees the 24 from 75 on.
  assert.equal(largestDifference(await propose(changed(74)), expected), 0);
  assert.ok(largestDifference(await propose(changed(75)), expected) > 1e-4);
});

test('sessions at the same time do not disturb each other', async () => {
  const head = await randomHead('eagle3');
  const drafter = new EagleDrafter(head, shapes['a tree']);
  const random = new Random(5);
  for (let round = 0; round < 10; round++) {
    const views = Array.from({ length: 3 }, () => viewOf(someTokens(30, random), head.info.featureWidth));
    const proposed = await Promise.all(views.map((view) => drafter.propose(view, 12)));
    for (const [i, view] of views.entries()) {
      const fresh = treeOf(await new EagleDrafter(head, shapes['a tree']).propose(view, 12));
      assert.ok(largestDifference(treeOf(proposed[i]), fresh) < TOLERANCE);
    }
  }
});

test('a long prompt is caught up with over several proposals', async () => {
  const head = await randomHead('eagle');
  const slow = {
    info: { ...head.info, multiplicationsPerPair: 5e8 / 100 },
    createRows: () => head.createRows(),
  };
  const view = viewOf(someTokens(250, new Random(6)), head.info.featureWidth);
  const drafter = new EagleDrafter(slow, shapes['a chain']);
  for (let i = 0; i < 2; i++) assert.equal(await drafter.propose(view, 5), catchingUp);
  assert.equal(treeOf(await drafter.propose(view, 5)).size, 5);
});

test('no level follows one whose best path is too improbable', async () => {
  const head = await randomHead('eagle3');
  const random = new Random(8);
  for (let i = 0; i < 20; i++) {
    const view = viewOf(someTokens(20, random), head.info.featureWidth);
    const draft = async (leastLogProb: number) => {
      const drafted = await new EagleSequence(head).draft(view, { levels: 6, width: 1, leastLogProb });
      return drafted!.candidates;
    };
    const whole = await draft(Number.NEGATIVE_INFINITY);
    const probableLevels = i % 6;
    const cut = await draft(probableLevels === 0 ? 0 : whole.logProbs[probableLevels - 1] - 1e-3);
    // The level that shows the path to be improbable is drafted by then.
    assert.deepEqual(cut.tokens, whole.tokens.subarray(0, probableLevels + 1));
  }
});
