import type { Architecture } from './architecture.ts';
import type { GraphBuilder, Value } from './graphBuilder.ts';

/** What every layer's attention reads beside its own KV rows. */
export interface AttentionInputs {
  readonly positions: Value; // [1, T] int64
  readonly pastMask: Value; // [P], 0 on a committed row, very negative on an unused one
  readonly treeMask: Value; // [group * T, T], 0 where a node may see a node, very negative elsewhere
  readonly cos: Value; // [context, headDim / 2]
  readonly sin: Value;
}

export interface AttentionOutputs {
  readonly attended: Value; // [1, T, heads * headDim]
  readonly keys: Value; // [1, kvHeads, T, headDim], rotated: the rows to commit
  readonly values: Value; // [1, kvHeads, T, headDim]
}

/**
 * Grouped-query attention for the CPU over KV rows that are inputs only. The past and the new tokens are scored
 * apart and joined before the softmax, so that no row of the past is ever copied; the new rows leave the graph and
 * whoever owns the cache writes the accepted ones. The heads of a group lie under one another as rows of one
 * matrix: two products a layer instead of two a head.
 *
 * qkv // [1, T, (heads + 2 * kvHeads) * headDim]
 */
export function cpuAttention(
  graph: GraphBuilder,
  { heads, kvHeads, headDim }: Architecture,
  layer: number,
  qkv: Value,
  inputs: AttentionInputs,
): AttentionOutputs {
  const pastKeys = graph.input(`past_keys_${layer}`, 'float32', [1, kvHeads, 'P', headDim]);
  const pastValues = graph.input(`past_values_${layer}`, 'float32', [1, kvHeads, 'P', headDim]);
  const { queries, keys, values } = splitHeads(graph, { heads, kvHeads, headDim }, qkv, inputs);

  const scale = { transB: 1, alpha: { float: 1 / Math.sqrt(headDim) } };
  const pastScores = graph.op('Add', [graph.op('FusedMatMul', [queries, pastKeys], scale), inputs.pastMask]);
  const newScores = graph.op('Add', [graph.op('FusedMatMul', [queries, keys], scale), inputs.treeMask]);
  const weights = graph.op('Softmax', [graph.op('Concat', [pastScores, newScores], { axis: -1 })], {
    axis: -1,
  });
  const pastLength = graph.op('Shape', [inputs.pastMask]);
  const newLength = graph.op('Shape', [inputs.positions], { start: 1 });
  const lengths = graph.op('Concat', [pastLength, newLength], { axis: 0 });
  const [pastWeights, newWeights] = graph.ops('Split', [weights, lengths], 2, { axis: -1 });
  const sum = graph.op('Add', [
    graph.op('MatMul', [pastWeights, pastValues]),
    graph.op('MatMul', [newWeights, values]),
  ]);

  const byHead = graph.op('Reshape', [sum, graph.ints([1, heads, -1, headDim])]);
  const byToken = graph.op('Transpose', [byHead], { perm: [0, 2, 1, 3] });
  const attended = graph.op('Reshape', [byToken, graph.ints([1, -1, heads * headDim])]);
  return { attended, keys, values };
}

/** queries // [1, kvHeads, group * T, headDim] */
function splitHeads(
  graph: GraphBuilder,
  { heads, kvHeads, headDim }: Pick<Architecture, 'heads' | 'kvHeads' | 'headDim'>,
  qkv: Value,
  { positions, cos, sin }: AttentionInputs,
) {
  const byToken = graph.op('Reshape', [qkv, graph.ints([1, -1, heads + 2 * kvHeads, headDim])]);
  const byHead = graph.op('Transpose', [byToken], { perm: [0, 2, 1, 3] });
  const [qk, values] = graph.ops('Split', [byHead, graph.ints([heads + kvHeads, kvHeads])], 2, { axis: 1 });
  const rotated = graph.op('RotaryEmbedding', [qk, positions, cos, sin]);
  const [q, keys] = graph.ops('Split', [rotated, graph.ints([heads, kvHeads])], 2, { axis: 1 });
  const queries = graph.op('Reshape', [q, graph.ints([1, kvHeads, -1, headDim])]);
  return { queries, keys, values };
}
