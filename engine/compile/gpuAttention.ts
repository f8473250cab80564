import { type AttentionKernel, type AttentionShape, normHeads } from './attention.ts';
import type { FloatType, GraphBuilder, Value } from './graphBuilder.ts';

/**
 * Grouped-query attention for WebGPU. The KV rows stay on the device: the caller feeds a layer's buffers and fetches the
 * same buffers, and the operator writes the new rows into them, behind the committed ones.
 *
 * Inputs: positions [1, T] int64; tree_mask [1, 1, T, W], 0 on a node's ancestors and itself, very negative elsewhere, for
 * the batch's T nodes and those before them that were evaluated already;
 * mask_pads [8] int64, what Pad puts around tree_mask: as many columns in front as there are committed rows;
 * last_row [1] and rows_in_all [1], int32: where the batch's last row goes, and how many rows there are then;
 * a layer's keys_i, values_i [1, kvHeads, C, headDim].
 * Outputs: a layer's keys_out_i, values_out_i, the shape of its inputs.
 *
 * Positions are rotated outside of GroupQueryAttention, which ignores position ids on WebGPU and counts rows instead:
 * wrong for a tree. Its outputs of KV rows may not be left out, or the rows are lost.
 */
export function gpuAttention(type: FloatType): AttentionKernel {
  return (graph, shape, { cos, sin }) => {
    const { heads, kvHeads, headDim } = shape;
    const positions = graph.input('positions', 'int64', [1, 'T']);
    const treeMask = graph.input('tree_mask', type, [1, 1, 'T', 'W']);
    // Padded on the device: what is uploaded a step does not grow with the context.
    const bias = graph.op('Pad', [treeMask, graph.input('mask_pads', 'int64', [8])]);
    const lastRow = graph.input('last_row', 'int32', [1]);
    const rowsInAll = graph.input('rows_in_all', 'int32', [1]);
    const rowShape = [1, kvHeads, 'C', headDim];
    return {
      layer(layer, qkv, norms) {
        const sizes = graph.ints([heads * headDim, kvHeads * headDim, kvHeads * headDim]);
        const [q, k, values] = graph.ops('Split', [qkv, sizes], 3, { axis: -1 });
        const rotate = (x: Value) => graph.op('RotaryEmbedding', [x, positions, cos, sin]);
        const queries = rotate(norms ? normed(graph, q, heads, norms.query, shape) : q);
        const keys = rotate(norms ? normed(graph, k, kvHeads, norms.key, shape) : k);
        const pastKeys = graph.input(`keys_${layer}`, type, rowShape);
        const pastValues = graph.input(`values_${layer}`, type, rowShape);
        const [attended, keysOut, valuesOut] = graph.ops(
          'GroupQueryAttention',
          [queries, keys, values, pastKeys, pastValues, lastRow, rowsInAll, '', '', '', bias],
          3,
          { num_heads: heads, kv_num_heads: kvHeads },
        );
        graph.output(`keys_out_${layer}`, keysOut, type, rowShape);
        graph.output(`values_out_${layer}`, valuesOut, type, rowShape);
        return attended;
      },
      finish() {},
    };
  };
}

/** x // [1, T, heads * headDim] */
function normed(graph: GraphBuilder, x: Value, heads: number, weight: Value, shape: AttentionShape): Value {
  const { headDim } = shape;
  const byHead = graph.op('Reshape', [x, graph.ints([1, -1, heads, headDim])]);
  return graph.op('Reshape', [normHeads(graph, byHead, weight, shape), graph.ints([1, -1, heads * headDim])]);
}
