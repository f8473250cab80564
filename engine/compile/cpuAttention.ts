import {
  type AttentionKernel,
  type AttentionShape,
  type HeadNorms,
  normHeads,
  type RopeTables,
} from './attention.ts';
import type { GraphBuilder, Value } from './graphBuilder.ts';

/**
 * Attention whose result for a token does not depend, bit for bit, on what it was evaluated together with.
 *
 * Floating-point sums depend on their order, and a token verified in a tree finds the same keys in another place than
 * when it is decoded alone. The differences are tiny, but the kernels after this one round activations to 8 bits, and
 * a value on the edge falls to the other side now and then: enough to turn a close decision.
 *
 * A matrix product adds up its terms one by one in the order of the keys, and a hidden key has the weight 0, which
 * changes nothing: only the order of the others matters, and where the kernel begins a new partial sum. Committed rows come in the order of positions, and so do the nodes of any path, being in topological
 * order. So every token's keys are split at a place that its own position decides (`closedRows`), and both parts are
 * added up in one way only:
 * - the closed rows before it in chunks, one product each: a longer product is cut into partial sums of a length that
 *   changes with the number of rows and threads (MLAS widens it where it shares columns out). The sums of the chunks
 *   are added up over the first axis, which happens one by one;
 * - the rest, committed rows that are still open and the nodes of the batch, are few enough for one partial sum: it holds
 *   128 keys at least.
 * Both share the largest score, which has no order, and are divided by the sum of both weights at the end. That of
 * the open part is a product too: a reduction would add up lane by lane, by a key's place modulo the lanes.
 */
export const OPEN_BLOCK = 16;
/** Open committed rows at most: a closed block may be out of reach of the batch's first token only. */
export const OPEN_ROWS = 2 * OPEN_BLOCK;

/**
 * How many rows are closed for the token at `position`: whole blocks, and at least OPEN_BLOCK positions away, so that
 * they are committed whatever batch (of up to that depth) the token is part of.
 */
export function closedRows(position: number): number {
  return Math.max(0, Math.floor(position / OPEN_BLOCK) - 1) * OPEN_BLOCK;
}

/** How deep a batch after `length` committed rows may be for that to hold: at its deepest, its closed rows are committed. */
export function exactDepth(length: number): number {
  return 2 * OPEN_BLOCK - (length % OPEN_BLOCK);
}

/** Rows of a chunk: no partial sum is shorter than twice this. */
export const CHUNK_ROWS = 64;

/** What KV rows are kept in. */
export type KvType = 'float32' | 'float16';

/** What every layer's attention reads beside its own KV rows. */
interface AttentionInputs {
  readonly positions: Value; // [heads + 2 * kvHeads, T] int64, of queries and keys; 0 for values
  readonly closedMask: Value; // [C, 1, 1 or group * T, CHUNK_ROWS], 0 on a row that is closed for the token, very negative elsewhere
  readonly openMask: Value; // [group * T, OPEN_ROWS + T], 0 where a token may see an open row or a node
  readonly ones: Value; // [OPEN_ROWS + T, headDim]
  readonly cos: Value; // [context, headDim / 2]
  readonly sin: Value;
}

/**
 * Grouped-query attention for the CPU. KV rows are inputs only: no row of the past is ever copied, the new ones leave
 * the graph and whoever owns the cache writes the accepted ones. The heads of a group lie under one another as
 * rows of one matrix: one product a KV head instead of one a head.
 *
 * Inputs: positions [1, T] int64; closed_mask and open_mask (AttentionInputs); a layer's keys_i, values_i
 * [C, kvHeads, CHUNK_ROWS, headDim] and open_i [2 * kvHeads, OPEN_ROWS, headDim].
 * Outputs: new_rows [layers * 2 * kvHeads, T, headDim]: of each layer the keys (rotated), then the values.
 *
 * @param stored what KV rows are kept in. Halving their bytes pays as soon as they do not fit the cache beside the weights;
 *   a token reads its own rows rounded too, so that it never matters whether a row is in the cache yet.
 */
export function cpuAttention(stored: KvType): AttentionKernel {
  return (graph, shape, rope) => {
    const { layers, heads, kvHeads, headDim } = shape;
    const inputs = attentionInputs(graph, shape, rope);
    const newRows: Value[] = []; // a layer: [2 * kvHeads, T, headDim]
    return {
      layer(layer, qkv, norms) {
        const { queries, rows } = splitHeads(graph, shape, qkv, norms, inputs, stored);
        newRows.push(rows);
        const closed = closedKeys(graph, shape, layer, stored);
        const open = openKeys(graph, shape, layer, rows, stored);
        const attended = attend(graph, shape, queries, closed, open, inputs);
        const byHead = graph.op('Reshape', [attended, graph.ints([heads, -1, headDim])]);
        const byToken = graph.op('Transpose', [byHead], { perm: [1, 0, 2] });
        return graph.op('Reshape', [byToken, graph.ints([1, -1, heads * headDim])]);
      },
      finish() {
        const rows = graph.op('Concat', newRows, { axis: 0 });
        graph.output('new_rows', rows, stored, [layers * 2 * kvHeads, 'T', headDim]);
      },
    };
  };
}

function attentionInputs(
  graph: GraphBuilder,
  { heads, kvHeads, headDim }: AttentionShape,
  { cos, sin }: RopeTables,
): AttentionInputs {
  const positions = graph.input('positions', 'int64', [1, 'T']);
  const closedMask = graph.input('closed_mask', 'float32', ['C', 1, 'M', CHUNK_ROWS]);
  const openMask = graph.input('open_mask', 'float32', ['GT', 'O']);
  // Rotating by position 0 changes nothing: values pass the rotation together with queries and keys, in one node.
  const turning = graph.ints([...Array(heads + kvHeads).fill(1), ...Array(kvHeads).fill(0)]);
  const perHead = graph.op('Reshape', [turning, graph.ints([-1, 1])]);
  const openLength = graph.op('Shape', [openMask], { start: 1 });
  const onesShape = graph.op('Concat', [openLength, graph.ints([headDim])], { axis: 0 });
  return {
    positions: graph.op('Mul', [positions, perHead]),
    closedMask,
    openMask,
    ones: graph.op('Expand', [graph.floats([1]), onesShape]),
    cos,
    sin,
  };
}

/** queries // [kvHeads, group * T, headDim], rows // [2 * kvHeads, T, headDim] */
function splitHeads(
  graph: GraphBuilder,
  shape: AttentionShape,
  qkv: Value,
  norms: HeadNorms | undefined,
  { positions, cos, sin }: AttentionInputs,
  stored: KvType,
) {
  const { heads, kvHeads, headDim } = shape;
  const byToken = graph.op('Reshape', [qkv, graph.ints([-1, heads + 2 * kvHeads, headDim])]);
  const byHead = graph.op('Transpose', [byToken], { perm: [1, 0, 2] });
  const normed = norms ? normQueriesAndKeys(graph, shape, byHead, norms) : byHead;
  // A head is an element of the batch here: only those have positions of their own.
  const rotated = graph.op('RotaryEmbedding', [normed, positions, cos, sin]);
  const [q, rows] = graph.ops('Split', [rotated, graph.ints([heads, 2 * kvHeads])], 2, { axis: 0 });
  const queries = graph.op('Reshape', [q, graph.ints([kvHeads, -1, headDim])]);
  return { queries, rows: stored === 'float32' ? rows : graph.op('Cast', [rows], { to: 10 }) };
}

function normQueriesAndKeys(
  graph: GraphBuilder,
  shape: AttentionShape,
  byHead: Value,
  norms: HeadNorms,
): Value {
  const { heads, kvHeads } = shape;
  const sizes = graph.ints([heads, kvHeads, kvHeads]);
  const [q, k, values] = graph.ops('Split', [byHead, sizes], 3, { axis: 0 });
  const queries = normHeads(graph, q, norms.query, shape);
  const keys = normHeads(graph, k, norms.key, shape);
  return graph.op('Concat', [queries, keys, values], { axis: 0 });
}

/** Keys and what they stand for, in float32. */
interface Keys {
  readonly keys: Value;
  readonly values: Value;
}

/** Each [C, kvHeads, CHUNK_ROWS, headDim]. */
function closedKeys(
  graph: GraphBuilder,
  { kvHeads, headDim }: AttentionShape,
  layer: number,
  stored: KvType,
): Keys {
  const shape = ['C', kvHeads, CHUNK_ROWS, headDim];
  return {
    keys: toFloat32(graph, graph.input(`keys_${layer}`, stored, shape), stored),
    values: toFloat32(graph, graph.input(`values_${layer}`, stored, shape), stored),
  };
}

/** Each [kvHeads, OPEN_ROWS + T, headDim]. */
function openKeys(
  graph: GraphBuilder,
  { kvHeads, headDim }: AttentionShape,
  layer: number,
  rows: Value,
  stored: KvType,
): Keys {
  const committed = graph.input(`open_${layer}`, stored, [2 * kvHeads, OPEN_ROWS, headDim]);
  const open = toFloat32(graph, graph.op('Concat', [committed, rows], { axis: 1 }), stored);
  const [keys, values] = graph.ops('Split', [open, graph.ints([kvHeads, kvHeads])], 2, { axis: 0 });
  return { keys, values };
}

/** @returns [kvHeads, group * T, headDim] */
function attend(
  graph: GraphBuilder,
  shape: AttentionShape,
  queries: Value,
  closed: Keys,
  open: Keys,
  { closedMask, openMask, ones }: AttentionInputs,
): Value {
  const lastAxis = graph.ints([-1]);
  const closedScores = maskedScores(graph, shape, queries, closed.keys, closedMask);
  const openScores = maskedScores(graph, shape, queries, open.keys, openMask);
  const largest = graph.op('Max', [
    reduceChunks(graph, 'ReduceMax', graph.op('ReduceMax', [closedScores, lastAxis])),
    graph.op('ReduceMax', [openScores, lastAxis]),
  ]);
  const closedWeights = graph.op('Exp', [graph.op('Sub', [closedScores, largest])]);
  const openWeights = graph.op('Exp', [graph.op('Sub', [openScores, largest])]);
  const sum = graph.op('Add', [
    reduceChunks(graph, 'ReduceSum', graph.op('MatMul', [closedWeights, closed.values])),
    graph.op('MatMul', [openWeights, open.values]),
  ]);
  const weight = graph.op('Add', [
    graph.op('MatMul', [openWeights, ones]),
    reduceChunks(graph, 'ReduceSum', graph.op('ReduceSum', [closedWeights, lastAxis])),
  ]);
  return graph.op('Div', [sum, weight]);
}

/** Over the first axis alone, where the kernel takes one chunk after the other. */
function reduceChunks(graph: GraphBuilder, op: 'ReduceMax' | 'ReduceSum', value: Value): Value {
  return graph.op(op, [value, graph.ints([0])], { keepdims: 0 });
}

function maskedScores(
  graph: GraphBuilder,
  { headDim }: AttentionShape,
  queries: Value,
  keys: Value,
  mask: Value,
): Value {
  const alpha = { float: 1 / Math.sqrt(headDim) };
  return graph.op('Add', [graph.op('FusedMatMul', [queries, keys], { transB: 1, alpha }), mask]);
}

function toFloat32(graph: GraphBuilder, value: Value, stored: KvType): Value {
  return stored === 'float32' ? value : graph.op('Cast', [value], { to: 1 });
}
