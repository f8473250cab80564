/** Heads of every published layout against a computation in plain numbers. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Checkpoint, openCheckpoint } from '../../../engine/compile/checkpoint.ts';
import type { Expansion } from '../../../engine/compile/heads/eagleGraphExpansion.ts';
import type { RecurrentHead } from '../../../engine/compile/heads/eagleGraphStep.ts';
import { openHead } from '../../../engine/compile/heads/openHead.ts';
import { DraftHead } from '../../../engine/model/draftHead.ts';
import type { Pairs, TreeLimits } from '../../../engine/model/draftHeadRows.ts';
import {
  deepSeekFolder,
  eagle3Folder,
  eagleFolder,
  type HeadFolder,
  type HeadWeights,
  headTarget,
  mimoFolder,
  writeHead,
} from '../../headFolder.ts';
import { targetFolder, withTarget } from '../../headTargetFolder.ts';
import { Random } from '../../random.ts';
import { tinyShape, writeRandomCheckpoint } from '../../randomCheckpoint.ts';
import { writeRandomHead } from '../../randomHead.ts';
import { ReferenceHead, type ReferencePair } from '../../referenceHead.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const folder = temporaryFolder();
const cacheDir = join(folder, 'cache');
const { vocabSize, hiddenSize } = headTarget;

const withWeights = (head: HeadFolder, config: object, weights: HeadWeights = {}): HeadFolder => ({
  config: { ...head.config, ...config },
  weights: { ...head.weights, ...weights },
});

const norm = [hiddenSize];

/** Heads that differ in what they compute. */
const layouts: Record<string, HeadFolder> = {
  'EAGLE, its fusion biased': eagleFolder,
  'EAGLE with norms': withWeights(
    eagleFolder,
    {},
    { 'embed_norm.weight': norm, 'layers.0.input_layernorm.weight': norm, 'norm.weight': norm },
  ),
  'EAGLE-3 with a draft vocabulary': eagle3Folder,
  'EAGLE-3, the residual normed': withWeights(eagle3Folder, { norm_before_residual: true }),
  'EAGLE-3, its output recycled': withWeights(eagle3Folder, { norm_output: true }),
  'EAGLE-3, all taps normed': withWeights(
    eagle3Folder,
    { norm_before_fc: true },
    { 'input_norm.weight': [3 * hiddenSize] },
  ),
  'EAGLE-3, each tap normed': withWeights(
    eagle3Folder,
    { fc_norm: true },
    { 'fc_norm.0.weight': norm, 'fc_norm.1.weight': norm, 'fc_norm.2.weight': norm },
  ),
  'MTP as MiMo has it': withTarget(mimoFolder),
  'MTP as DeepSeek has it': withTarget(deepSeekFolder),
};

let written = 0;

async function openLayout(
  head: HeadFolder,
  expansion: Expansion,
): Promise<{ opened: DraftHead; reference: ReferenceHead }> {
  const dir = writeHead(join(folder, `head-${written++}`), head);
  const holdsTarget = 'model.layers.0.mlp.gate_proj.weight' in head.weights;
  const target = holdsTarget ? await openCheckpoint(dir) : await plainTarget();
  const description = await openHead(dir, target.architecture);
  if (description.kind === 'medusa') throw new Error('a Medusa head');
  const options = { precision: 'fp32', expansion, cacheDir, threads: 1, log: console.warn } as const;
  return {
    opened: await DraftHead.open(description, target, options),
    reference: new ReferenceHead(description, target),
  };
}

async function plainTarget(): Promise<Checkpoint> {
  return openCheckpoint(writeHead(join(folder, 'target'), targetFolder));
}

function randomPairs(count: number, width: number, seed: number): Pairs {
  const random = new Random(seed);
  return {
    tokens: Int32Array.from({ length: count }, () => random.below(vocabSize)),
    features: Float32Array.from({ length: count * width }, () => 2 * random.next() - 1),
  };
}

function asReference({ tokens, features }: Pairs): ReferencePair[] {
  const width = features.length / tokens.length;
  return Array.from(tokens, (token, i) => ({
    token,
    feature: { from: 'target', values: [...features.subarray(i * width, (i + 1) * width)] },
  }));
}

const chain = { levels: 4, width: 1, leastLogProb: Number.NEGATIVE_INFINITY };

async function assertChainOfPlainNumbers(
  head: HeadFolder,
  expansion: Expansion,
  limits: TreeLimits,
): Promise<void> {
  const { opened, reference } = await openLayout(head, expansion);
  const { featureWidth } = opened.info;
  const pairs = randomPairs(9, featureWidth, written);
  // The last two together, the others before them in two runs: rows are kept and read again.
  const rows = opened.createRows();
  const part = (start: number, end: number): Pairs => ({
    tokens: pairs.tokens.subarray(start, end),
    features: pairs.features.subarray(start * featureWidth, end * featureWidth),
  });
  await rows.append(part(0, 4));
  await rows.append(part(4, 7));
  const { tokens, logProbs } = await rows.draft(part(7, 9), limits);
  const expected = await reference.chain(asReference(pairs), limits.levels);
  assert.deepEqual([...tokens], expected.tokens);
  for (const [i, logProb] of logProbs.entries()) {
    assert.ok(Math.abs(logProb - expected.logProbs[i]) < 1e-4, `${logProb}, ${expected.logProbs[i]}`);
  }
  await opened.dispose();
}

for (const [name, head] of Object.entries(layouts)) {
  test(`${name}: chains are those of plain numbers`, () =>
    assertChainOfPlainNumbers(head, 'mostProbable', chain));
}

test('EAGLE with given nodes: chains are those of plain numbers', () =>
  assertChainOfPlainNumbers(eagleFolder, 'given', { ...chain, expand: new Int32Array(chain.levels) }));

test('a head whose weights overflow is refused: it would draft nothing but NaN', async () => {
  const shape = { ...tinyShape, layers: 6 };
  const target = await openCheckpoint(writeRandomCheckpoint(join(folder, 'overflowing-target'), shape, 1));
  const dir = writeRandomHead(join(folder, 'overflowing'), 'eagle3', shape, 1);
  scaleWeights(join(dir, 'model.safetensors'), /fc\.weight|lm_head|norm\.weight$/u, 1e37);
  const head = await openHead(dir, target.architecture);
  assert.equal(head.kind, 'eagle3');
  for (const precision of ['fp32', 'int8'] as const) {
    const options = {
      precision,
      expansion: 'mostProbable',
      cacheDir,
      threads: 1,
      log: console.warn,
    } as const;
    await assert.rejects(DraftHead.open(head as RecurrentHead, target, options), {
      code: 'model.corrupt',
      message: /overflowing: the head computes no numbers/,
    });
  }
});

/** Of float32 tensors whose names match. */
function scaleWeights(file: string, names: RegExp, factor: number): void {
  const bytes = readFileSync(file);
  const dataStart = 8 + Number(bytes.readBigUInt64LE());
  const header = JSON.parse(bytes.subarray(8, dataStart).toString()) as Record<
    string,
    { dtype: string; data_offsets: [number, number] }
  >;
  for (const [
    name,
    {
      dtype,
      data_offsets: [start, end],
    },
  ] of Object.entries(header)) {
    if (dtype !== 'F32' || !names.test(name)) continue;
    for (let at = dataStart + start; at < dataStart + end; at += 4)
      bytes.writeFloatLE(bytes.readFloatLE(at) * factor, at);
  }
  writeFileSync(file, bytes);
}
