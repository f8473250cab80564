/** The graph of a head against the reference implementation: hidden states and logits at every position. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCheckpoint } from '../../../../engine/compile/checkpoint.ts';
import { compileDraftGraph } from '../../../../engine/compile/heads/compileDraftGraph.ts';
import type { RecurrentHead } from '../../../../engine/compile/heads/eagleGraphStep.ts';
import { HIDDEN } from '../../../../engine/model/attentionMasks.ts';
import * as ort from '../../../../engine/model/onnxruntime.ts';
import { EagleGolden, eagleHeads, eaglePrompts, eagleTargetDir } from '../../../eagleGolden.ts';
import { GOLDEN_TOLERANCE } from '../../../golden.ts';
import { temporaryFolder } from '../../../temporaryFolder.ts';

const cacheDir = temporaryFolder();

/** One level after the first `count` pairs, with all tokens for candidates. */
function feedsOf(head: RecurrentHead, tokens: Int32Array, features: Float32Array, width: number) {
  const { kvHeads, headDim } = head.layer;
  const count = tokens.length;
  const int64 = (values: ArrayLike<number>, shape: number[]) =>
    new ort.Tensor('int64', BigInt64Array.from(Array.from(values), BigInt), shape);
  const float32 = (shape: number[], fill: number) =>
    new ort.Tensor('float32', new Float32Array(shape.reduce((a, b) => a * b)).fill(fill), shape);
  return {
    features: new ort.Tensor('float32', features, [count, features.length / count]),
    tokens: int64(tokens, [1, count]),
    positions: int64([...tokens.keys()], [1, count]),
    last: int64([count - 1], [1]),
    pair_mask: float32([1, count], 0),
    keys: float32([1, kvHeads, 64, headDim], 0),
    values: float32([1, kvHeads, 64, headDim], 0),
    past_mask: float32([1, 64], HIDDEN),
    levels: int64([1], []),
    width: int64([width], [1]),
    least_log_prob: new ort.Tensor('float32', [Number.NEGATIVE_INFINITY], []),
    siblings: int64([...Array(width).keys()], [width]),
    sibling_mask: float32([width, width], 0),
    next_positions: int64(new Int32Array(width), [1, width]),
  };
}

function logSoftmax(logits: Float32Array): Float32Array {
  const largest = Math.max(...logits);
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - largest), 0);
  return logits.map((logit) => logit - largest - Math.log(sum));
}

/** Log-probabilities in the order of the candidates, which are the target's ids. */
function inOrderOf(tokens: BigInt64Array, head: RecurrentHead, logProbs: Float32Array): Float32Array {
  const targetIds = head.kind === 'eagle3' ? head.targetIds : undefined;
  return Float32Array.from(
    tokens,
    (token) => logProbs[targetIds ? targetIds.indexOf(Number(token)) : Number(token)],
  );
}

function largestDifference(a: Float32Array, b: Float32Array): number {
  assert.equal(a.length, b.length);
  return a.reduce((worst, value, i) => Math.max(worst, Math.abs(value - b[i])), 0);
}

for (const name of eagleHeads) {
  test(`${name} computes the reference's hidden states and logits`, async () => {
    const golden = new EagleGolden(name);
    const head = await golden.openHead();
    const target = await openCheckpoint(eagleTargetDir);
    const { graphFile } = await compileDraftGraph(head, target, { precision: 'fp32', cacheDir });
    const session = await ort.InferenceSession.create(graphFile);
    for (const prompt of eaglePrompts) {
      const tokens = golden.tokens(prompt).subarray(1);
      const features = await golden.features(prompt);
      const hidden = golden.hidden(prompt);
      const size = hidden.length / tokens.length;
      const width = features.length / tokens.length;
      const logits = golden.lastLogits(prompt);
      const rows = Math.min(4, tokens.length);
      const vocabSize = logits.length / rows;
      for (let position = 0; position < tokens.length; position++) {
        const count = position + 1;
        const feeds = feedsOf(
          head,
          tokens.subarray(0, count),
          features.subarray(0, count * width),
          vocabSize,
        );
        const { feature, ...candidates } = await session.run(feeds);
        const place = `${prompt}, position ${position}`;
        const state = (feature.data as Float32Array).subarray(0, size);
        const expected = hidden.subarray(position * size, count * size);
        assert.ok(largestDifference(state, expected) < GOLDEN_TOLERANCE, `${place}: hidden state`);
        const row = position - tokens.length + rows;
        if (row < 0) continue;
        const logProbs = logSoftmax(logits.subarray(row * vocabSize, (row + 1) * vocabSize));
        const difference = largestDifference(
          candidates.candidate_log_probs.data as Float32Array,
          inOrderOf(candidates.candidate_tokens.data as BigInt64Array, head, logProbs),
        );
        assert.ok(difference < GOLDEN_TOLERANCE, `${place}: logits`);
      }
    }
    await session.release();
  });
}
