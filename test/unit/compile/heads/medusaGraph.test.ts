import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openCheckpoint, readTensor } from '../../../../engine/compile/checkpoint.ts';
import { GraphCache } from '../../../../engine/compile/graphCache.ts';
import type { MedusaHead } from '../../../../engine/compile/heads/head.ts';
import { buildMedusaGraph, MEDUSA_CANDIDATES } from '../../../../engine/compile/heads/medusaGraph.ts';
import { openHead } from '../../../../engine/compile/heads/openHead.ts';
import { decoderKernels, type Precision } from '../../../../engine/compile/precision.ts';
import { createCpuSession } from '../../../../engine/model/cpuSession.ts';
import * as ort from '../../../../engine/model/onnxruntime.ts';
import { CpuModels } from '../../../cpuModels.ts';
import { GOLDEN_TOLERANCE } from '../../../golden.ts';
import { largestError } from '../../../goldenCheck.ts';
import {
  lastLogits,
  medusaHeadDir,
  medusaPrompts,
  medusaTargetDir,
  promptTokens,
} from '../../../medusaGolden.ts';
import { Random } from '../../../random.ts';
import { type NamedTensor, tinyShape, writeRandomCheckpoint } from '../../../randomCheckpoint.ts';
import { randomMedusaTensors, writeRandomMedusa } from '../../../randomMedusa.ts';
import { temporaryFolder } from '../../../temporaryFolder.ts';

const models = new CpuModels();
const folder = temporaryFolder();
const sessions: ort.InferenceSession[] = [];
after(() => Promise.all(sessions.map((session) => session.release())));

async function openGraph(dir: string, targetDir: string, precision: Precision, heads: number) {
  const target = await openCheckpoint(targetDir);
  const head = await openHead(dir, target.architecture, ['medusa']);
  const kernels = decoderKernels('cpu', precision, 'one');
  const compiled = await new GraphCache(folder).compile(
    { label: 'medusa', files: head.files, parameters: [precision, heads, targetDir] },
    (weights) => buildMedusaGraph(head as MedusaHead, target, { kernels, heads }, weights),
  );
  const session = await createCpuSession(compiled.graphFile, 1);
  sessions.push(session);
  return session;
}

async function run(session: ort.InferenceSession, feature: Float32Array) {
  const { logits, tokens, log_probs } = await session.run({
    feature: new ort.Tensor('float32', feature, [1, feature.length]),
  });
  return {
    logits: logits.data as Float32Array,
    tokens: Array.from(tokens.data as BigInt64Array, Number),
    logProbs: log_probs.data as Float32Array,
    shape: tokens.dims,
  };
}

test('the heads compute what the reference computes', async () => {
  const target = await models.open(medusaTargetDir, { precision: 'fp32', taps: [8] });
  const { hiddenSize, vocabSize } = target.info;
  const graph = await openGraph(medusaHeadDir, medusaTargetDir, 'fp32', 5);
  for (const prompt of medusaPrompts) {
    const tokens = promptTokens(prompt);
    const expected = lastLogits(prompt); // [5, positions, vocab]
    const positions = expected.length / 5 / vocabSize;
    const kv = target.createKvCache(tokens.length);
    const { taps } = await kv.forward({ tokens, rows: new Int32Array(0), want: 'argmax' });
    for (let i = 0; i < positions; i++) {
      const position = tokens.length - positions + i;
      const feature = taps[0].slice(position * hiddenSize, (position + 1) * hiddenSize);
      const { logits } = await run(graph, feature);
      for (let head = 0; head < 5; head++) {
        const row = (head * positions + i) * vocabSize;
        const error = largestError(
          logits.subarray(head * vocabSize, (head + 1) * vocabSize),
          expected.subarray(row, row + vocabSize),
        );
        assert.ok(error < GOLDEN_TOLERANCE, `${prompt}, position ${position}, head ${head}: ${error}`);
      }
    }
    kv.dispose();
  }
});

const shape = { ...tinyShape, heads: 3, blocks: 2 };
const targetDir = writeRandomCheckpoint(join(folder, 'target'), tinyShape, 1);
const headDir = writeRandomMedusa(join(folder, 'medusa'), shape, 2);
const feature = Float32Array.from(
  { length: shape.hiddenSize },
  (
    (random) => () =>
      2 * random.next() - 1
  )(new Random(3)),
);

test('heads of several blocks compute x + silu(linear(x)) block by block', async () => {
  const { logits } = await run(await openGraph(headDir, targetDir, 'fp32', 3), feature);
  assert.ok(largestError(logits, await straightforward()) < 1e-4);
});

/** The heads of `headDir` in plain loops. */
async function straightforward(): Promise<Float32Array> {
  const tensors = new Map(randomMedusaTensors(shape, 2).map((tensor) => [tensor.name, tensor]));
  const norm = await readTensor(await openCheckpoint(targetDir), 'model.norm.weight');
  const meanSquare = feature.reduce((sum, value) => sum + value * value, 0) / feature.length;
  const normed = feature.map((value, i) => (value / Math.sqrt(meanSquare + 1e-6)) * norm[i]);
  const logits: number[] = [];
  for (let head = 0; head < shape.heads; head++) {
    let x = normed;
    for (let block = 0; block < shape.blocks; block++) {
      const bias = tensors.get(`${head}.${block}.linear.bias`)!.data;
      const linear = product(tensors.get(`${head}.${block}.linear.weight`)!, x).map((y, i) => y + bias[i]);
      x = x.map((value, i) => value + linear[i] / (1 + Math.exp(-linear[i])));
    }
    logits.push(...product(tensors.get(`${head}.${shape.blocks}.weight`)!, x));
  }
  return Float32Array.from(logits);
}

function product({ shape: [outputs, inputs], data }: NamedTensor, x: Float32Array): Float32Array {
  return Float32Array.from({ length: outputs }, (_, output) =>
    data.subarray(output * inputs, (output + 1) * inputs).reduce((sum, weight, i) => sum + weight * x[i], 0),
  );
}

for (const precision of ['fp32', 'int8', 'int4'] satisfies Precision[]) {
  test(`candidates are the best tokens of each head, with their log-probabilities, ${precision}`, async () => {
    const {
      logits,
      tokens,
      logProbs,
      shape: dims,
    } = await run(await openGraph(headDir, targetDir, precision, 3), feature);
    assert.deepEqual(dims, [3, MEDUSA_CANDIDATES]);
    for (let head = 0; head < 3; head++) {
      const scores = [...logits.subarray(head * shape.vocabSize, (head + 1) * shape.vocabSize)];
      const logSum = Math.log(scores.reduce((sum, score) => sum + Math.exp(score), 0));
      const best = scores.map((_, token) => token).sort((a, b) => scores[b] - scores[a]);
      for (let i = 0; i < MEDUSA_CANDIDATES; i++) {
        const place = head * MEDUSA_CANDIDATES + i;
        assert.equal(tokens[place], best[i]);
        assert.ok(Math.abs(logProbs[place] - (scores[best[i]] - logSum)) < 1e-5);
      }
    }
  });
}

test('quantized heads are close to the exact ones', async () => {
  const [exact, rounded] = await Promise.all(
    (['fp32', 'int8'] as const).map(async (precision) =>
      run(await openGraph(headDir, targetDir, precision, 3), feature),
    ),
  );
  const error = largestError(rounded.logits, exact.logits);
  assert.ok(error > 0 && error < 0.25, `${error}`);
});

test('fewer heads are the first ones', async () => {
  const all = await run(await openGraph(headDir, targetDir, 'fp32', 3), feature);
  const two = await run(await openGraph(headDir, targetDir, 'fp32', 2), feature);
  assert.deepEqual(two.tokens, all.tokens.slice(0, 2 * MEDUSA_CANDIDATES));
});
