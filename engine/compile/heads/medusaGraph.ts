import { silu } from '../activations.ts';
import type { Checkpoint } from '../checkpoint.ts';
import type { DecoderKernels } from '../decoderGraph.ts';
import { GraphBuilder, type Value } from '../graphBuilder.ts';
import { logProbsOfLargest } from '../logProbs.ts';
import type { OnnxGraph } from '../onnxModel.ts';
import type { WeightWriter } from '../weightWriter.ts';
import type { DenseTensors, MedusaHead } from './head.ts';
import { HeadWeights } from './headWeights.ts';

/** Candidates of a head; published trees go no further down its list. */
export const MEDUSA_CANDIDATES = 10;

export interface MedusaGraphOptions {
  readonly kernels: DecoderKernels;
  /** Heads to compute: the first ones. */
  readonly heads: number;
}

/**
 * The graph that computes all heads in one run, from the target's newest hidden state (Medusa, arXiv 2401.10774, section
 * 2.1.1; FasterDecoding/Medusa, medusa/model/medusa_model.py).
 *
 * Inputs: feature [1, hidden], the stream before the target's final norm, which is part of the graph.
 * Outputs: tokens [heads, k] int64, best first, and log_probs [heads, k], k at most MEDUSA_CANDIDATES;
 * logits [heads, vocab].
 */
export async function buildMedusaGraph(
  head: MedusaHead,
  target: Checkpoint,
  { kernels, heads }: MedusaGraphOptions,
  writer: WeightWriter,
): Promise<OnnxGraph> {
  const graph = new GraphBuilder(writer);
  const { hiddenSize, vocabSize, normEpsilon } = target.architecture;
  const weights = new HeadWeights(target, kernels, normEpsilon);
  const computed = head.heads.slice(0, heads);
  const feature = graph.input('feature', 'float32', [1, hiddenSize]);
  const normed = await weights.targetNorm(graph, feature);
  const first = await firstBlocks(
    graph,
    weights,
    normed,
    computed.map(({ blocks }) => blocks[0]),
  );
  const logits: Value[] = [];
  for (const [i, { blocks, output }] of computed.entries()) {
    let x = first[i];
    for (const block of blocks.slice(1)) x = addActivated(graph, x, await weights.dense(graph, x, [block]));
    logits.push(await weights.logits(graph, x, { from: 'head', weight: output.weight }));
  }
  const all = graph.op('Concat', logits, { axis: 0 });
  graph.output('logits', all, 'float32', [computed.length, vocabSize]);
  listCandidates(graph, all, Math.min(MEDUSA_CANDIDATES, vocabSize), computed.length);
  return graph.finish();
}

/** All heads begin at the same state: one product for the first block of each. @returns a head each, [1, hidden] */
async function firstBlocks(
  graph: GraphBuilder,
  weights: HeadWeights,
  normed: Value,
  blocks: readonly DenseTensors[],
): Promise<Value[]> {
  const { hiddenSize } = weights.target;
  const stacked = await weights.dense(graph, normed, blocks);
  const rows = graph.op('Reshape', [stacked, graph.ints([blocks.length, hiddenSize])]);
  const sizes = graph.ints(blocks.map(() => 1));
  return graph.ops('Split', [addActivated(graph, normed, rows), sizes], blocks.length, { axis: 0 });
}

/** x + silu(linear) */
function addActivated(graph: GraphBuilder, x: Value, linear: Value): Value {
  return graph.op('Add', [x, silu(graph, linear)]);
}

function listCandidates(graph: GraphBuilder, logits: Value, count: number, heads: number): void {
  const [largest, best] = graph.ops('TopK', [logits, graph.ints([count])], 2);
  graph.output('tokens', best, 'int64', [heads, count]);
  graph.output('log_probs', logProbsOfLargest(graph, logits, largest), 'float32', [heads, count]);
}
