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
 * a value on the edge falls to the other side now and then: enough to turn a close decision. So every token's
 * keys are split at a place that its own position decides (`closedRows`):
 * - the closed rows before it are summed in float32, in the order of the positions, always the same;
 * - the rest, committed rows that are still open and the nodes of the batch, are few; they are summed in float64,
 *   where another order changes nothing that survives the rounding to float32. Exponentials stay in float32: no sum, and
 *   the kernel computes each alike wherever it stands (that of the logarithm does not).
 * The closed part joins the open one as if it were one more key: it scores what its largest score does, and weighs as often
 * as that as its softmax says (1 / largest weight).
 */
export const OPEN_BLOCK = 8;
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

/**
 * Threads with which a closed part is summed in one order. A product that is shared out by its columns is cut into partial
 * sums of another length (MLAS), and how it is shared out depends on the rows of the batch. With no more threads than
 * products, one a KV head, each is one thread's.
 */
export function exactThreads({ kvHeads }: { readonly kvHeads: number }): number {
  return kvHeads;
}

/** What KV rows are kept in. */
export type KvType = 'float32' | 'float16';

/** What every layer's attention reads beside its own KV rows. */
interface AttentionInputs {
  readonly positions: Value; // [1, T] int64
  readonly closedMask: Value; // [1 or group * T, P], 0 on a row that is closed for the token, very negative elsewhere
  readonly openMask: Value; // [group * T, OPEN_ROWS + T], 0 where a token may see an open row or a node
  readonly openLengths: Value; // [2] int64: 1 and OPEN_ROWS + T
  readonly cos: Value; // [context, headDim / 2]
  readonly sin: Value;
}

/**
 * Grouped-query attention for the CPU. KV rows are inputs only: no row of the past is ever copied, the new ones leave
 * the graph and whoever owns the cache writes the accepted ones. The heads of a group lie under one another as
 * rows of one matrix: one product a KV head instead of one a head.
 *
 * Inputs: positions, closed_mask and open_mask (AttentionInputs); a layer's keys_i, values_i [1, kvHeads, P, headDim] and
 * open_i [1, 2 * kvHeads, OPEN_ROWS, headDim].
 * Outputs: new_rows [layers, 2 * kvHeads, T, headDim]: keys (rotated), then values.
 *
 * @param stored what KV rows are kept in. Halving their bytes pays as soon as they do not fit the cache beside the weights;
 *   a token reads its own rows rounded too, so that it never matters whether a row is in the cache yet.
 */
export function cpuAttention(stored: KvType): AttentionKernel {
  return (graph, shape, rope) => {
    const { layers, heads, kvHeads, headDim } = shape;
    const inputs = attentionInputs(graph, rope);
    const newRows: Value[] = []; // a layer: [1, 2 * kvHeads, T, headDim]
    return {
      layer(layer, qkv, norms) {
        const { queries, rows } = splitHeads(graph, shape, qkv, norms, inputs, stored);
        newRows.push(rows);
        const closed = closedPart(graph, shape, layer, queries, inputs, stored);
        const sum = openPart(graph, shape, layer, queries, rows, closed, inputs, stored);
        const byHead = graph.op('Reshape', [sum, graph.ints([1, heads, -1, headDim])]);
        const byToken = graph.op('Transpose', [byHead], { perm: [0, 2, 1, 3] });
        return graph.op('Reshape', [byToken, graph.ints([1, -1, heads * headDim])]);
      },
      finish() {
        const rows = graph.op('Concat', newRows, { axis: 0 });
        graph.output('new_rows', rows, stored, [layers, 2 * kvHeads, 'T', headDim]);
      },
    };
  };
}

function attentionInputs(graph: GraphBuilder, { cos, sin }: RopeTables): AttentionInputs {
  const openMask = graph.input('open_mask', 'float32', ['GT', 'O']);
  const openLength = graph.op('Shape', [openMask], { start: 1 });
  return {
    positions: graph.input('positions', 'int64', [1, 'T']),
    closedMask: graph.input('closed_mask', 'float32', ['M', 'P']),
    openMask,
    openLengths: graph.op('Concat', [graph.ints([1]), openLength], { axis: 0 }),
    cos,
    sin,
  };
}

/** queries // [1, kvHeads, group * T, headDim] */
function splitHeads(
  graph: GraphBuilder,
  shape: AttentionShape,
  qkv: Value,
  norms: HeadNorms | undefined,
  { positions, cos, sin }: AttentionInputs,
  stored: KvType,
) {
  const { heads, kvHeads, headDim } = shape;
  const byToken = graph.op('Reshape', [qkv, graph.ints([1, -1, heads + 2 * kvHeads, headDim])]);
  const byHead = graph.op('Transpose', [byToken], { perm: [0, 2, 1, 3] });
  const sizes = graph.ints([heads, kvHeads, kvHeads]);
  const [q, k, values] = graph.ops('Split', [byHead, sizes], 3, { axis: 1 });
  const rotate = (x: Value, norm: Value | undefined) =>
    graph.op('RotaryEmbedding', [norm ? normHeads(graph, x, norm, shape) : x, positions, cos, sin]);
  const queries = graph.op('Reshape', [rotate(q, norms?.query), graph.ints([1, kvHeads, -1, headDim])]);
  const rows = graph.op('Concat', [rotate(k, norms?.key), values], { axis: 1 });
  return { queries, rows: stored === 'float32' ? rows : graph.op('Cast', [rows], { to: 10 }) };
}

interface ClosedPart {
  readonly attended: Value; // [1, kvHeads, group * T, headDim] float64
  readonly largest: Value; // score, [1, kvHeads, group * T, 1]
  readonly largestWeight: Value; // 1 / sum of exp(score - largest), [1, kvHeads, group * T, 1]
}

function closedPart(
  graph: GraphBuilder,
  { kvHeads, headDim }: AttentionShape,
  layer: number,
  queries: Value,
  { closedMask }: AttentionInputs,
  stored: KvType,
): ClosedPart {
  const shape = [1, kvHeads, 'P', headDim];
  const keys = toFloat32(graph, graph.input(`keys_${layer}`, stored, shape), stored);
  const values = toFloat32(graph, graph.input(`values_${layer}`, stored, shape), stored);
  const scores = graph.op('Add', [scaledScores(graph, queries, keys, headDim), closedMask]);
  const weights = graph.op('Softmax', [scores], { axis: -1 });
  const attended = graph.op('MatMul', [weights, values]);
  const lastAxis = graph.ints([-1]);
  return {
    attended: toFloat64(graph, attended),
    largest: graph.op('ReduceMax', [scores, lastAxis]),
    largestWeight: graph.op('ReduceMax', [weights, lastAxis]),
  };
}

/** @returns [1, kvHeads, group * T, headDim] */
function openPart(
  graph: GraphBuilder,
  { kvHeads, headDim }: AttentionShape,
  layer: number,
  queries: Value,
  rows: Value,
  closed: ClosedPart,
  { openMask, openLengths }: AttentionInputs,
  stored: KvType,
): Value {
  const committed = graph.input(`open_${layer}`, stored, [1, 2 * kvHeads, OPEN_ROWS, headDim]);
  const open = toFloat32(graph, graph.op('Concat', [committed, rows], { axis: 2 }), stored);
  const [keys, values] = graph.ops('Split', [open, graph.ints([kvHeads, kvHeads])], 2, { axis: 1 });
  const scores = graph.op('Add', [scaledScores(graph, queries, keys, headDim), openMask]);
  const all = graph.op('Concat', [closed.largest, scores], { axis: -1 });
  const lastAxis = graph.ints([-1]);
  const largest = graph.op('ReduceMax', [all, lastAxis]);
  const exponentials = graph.op('Exp', [graph.op('Sub', [all, largest])]);
  const [closedExponential, openExponentials] = graph.ops('Split', [exponentials, openLengths], 2, {
    axis: -1,
  });
  const closedWeight = toFloat64(graph, graph.op('Div', [closedExponential, closed.largestWeight]));
  const openWeights = toFloat64(graph, openExponentials);
  const total = graph.op('Add', [closedWeight, graph.op('ReduceSum', [openWeights, lastAxis])]);
  const sum = graph.op('Add', [
    graph.op('Mul', [closedWeight, closed.attended]),
    graph.op('MatMul', [openWeights, toFloat64(graph, values)]),
  ]);
  return graph.op('Cast', [graph.op('Div', [sum, total])], { to: 1 });
}

/**
 * Dimensions of a score that are summed in one product. The kernel (MLAS) cuts longer sums into partial ones, and where
 * depends on how many keys there are: from 65 on they are of 128, and of 256 up to there.
 */
const DIMENSIONS_A_PRODUCT = 128;

function scaledScores(graph: GraphBuilder, queries: Value, keys: Value, headDim: number): Value {
  const alpha = { float: 1 / Math.sqrt(headDim) };
  const product = (q: Value, k: Value) => graph.op('FusedMatMul', [q, k], { transB: 1, alpha });
  if (headDim <= DIMENSIONS_A_PRODUCT) return product(queries, keys);
  const sizes = slices(headDim);
  const slice = (rows: Value) => graph.ops('Split', [rows, graph.ints(sizes)], sizes.length, { axis: -1 });
  const keySlices = slice(keys);
  return slice(queries)
    .map((querySlice, i) => product(querySlice, keySlices[i]))
    .reduce((sum, scores) => graph.op('Add', [sum, scores]));
}

function slices(headDim: number): number[] {
  const count = Math.ceil(headDim / DIMENSIONS_A_PRODUCT);
  return Array.from({ length: count }, (_, i) =>
    Math.min(DIMENSIONS_A_PRODUCT, headDim - i * DIMENSIONS_A_PRODUCT),
  );
}

function toFloat32(graph: GraphBuilder, value: Value, stored: KvType): Value {
  return stored === 'float32' ? value : graph.op('Cast', [value], { to: 1 });
}

function toFloat64(graph: GraphBuilder, value: Value): Value {
  return graph.op('Cast', [value], { to: 11 });
}
