import type { LayerShape } from '../architecture.ts';
import { type HeadNorms, normHeads, type RopeTables } from '../attention.ts';
import type { GraphBuilder, Value } from '../graphBuilder.ts';

/** KV rows of the pairs before this run: values of the graph around the loop, the same in every step. */
export interface PastRows {
  readonly keys: Value; // [1, kvHeads, P, headDim]
  readonly values: Value; // [1, kvHeads, P, headDim]
  readonly mask: Value; // [1, P]: 0 on a row inside the window, very negative elsewhere
  readonly length: Value; // [1] int64: P
}

/** What one step attends with: M tokens bring rows, A of them ask. */
export interface StepAttention {
  readonly positions: Value; // [1, M] int64
  /** The tokens that ask: indices into M. The others are there for their rows only. */
  readonly active: Value; // [A] int64
  /** Rows of this run before the step: its pairs, then drafted tokens, keys before values. */
  readonly open: Value; // [1, 2 * kvHeads, O, headDim]
  readonly openMask: Value; // [A, O + M]
}

/** Rotary grouped-query attention of one draft step. Nothing hangs on the order of its sums: drafts may differ in the last bit. */
export class DraftAttention {
  readonly #shape: LayerShape;
  readonly #rope: RopeTables;
  readonly #past: PastRows;
  readonly #norms: HeadNorms | undefined;

  constructor(shape: LayerShape, rope: RopeTables, past: PastRows, norms: HeadNorms | undefined) {
    this.#shape = shape;
    this.#rope = rope;
    this.#past = past;
    this.#norms = norms;
  }

  /**
   * @param qkv [1, M, (heads + 2 * kvHeads) * headDim], not yet rotated
   * @returns what the active tokens attended to [1, A, heads * headDim], and the open rows with those of the step
   */
  attend(graph: GraphBuilder, qkv: Value, step: StepAttention): { attended: Value; open: Value } {
    const { heads, kvHeads, headDim } = this.#shape;
    const { queries, rows } = this.#splitHeads(graph, qkv, step);
    const open = graph.op('Concat', [step.open, rows], { axis: 2 });
    const [keys, values] = graph.ops('Split', [open, graph.ints([kvHeads, kvHeads])], 2, { axis: 1 });
    const pastScores = graph.op('Add', [this.#scores(graph, queries, this.#past.keys), this.#past.mask]);
    const openScores = this.#masked(graph, this.#scores(graph, queries, keys), step.openMask);
    const scores = graph.op('Concat', [pastScores, openScores], { axis: -1 });
    const weights = graph.op('Softmax', [scores], { axis: -1 });
    const lengths = graph.op(
      'Concat',
      [this.#past.length, graph.op('Shape', [step.openMask], { start: 1 })],
      { axis: 0 },
    );
    const [pastWeights, openWeights] = graph.ops('Split', [weights, lengths], 2, { axis: -1 });
    const sum = graph.op('Add', [
      graph.op('MatMul', [pastWeights, this.#past.values]),
      graph.op('MatMul', [openWeights, values]),
    ]);
    const byHead = graph.op('Reshape', [sum, graph.ints([1, heads, -1, headDim])]);
    const byToken = graph.op('Transpose', [byHead], { perm: [0, 2, 1, 3] });
    return { attended: graph.op('Reshape', [byToken, graph.ints([1, -1, heads * headDim])]), open };
  }

  /** queries // [1, kvHeads, group * A, headDim]: the heads of a group under one another, one product a KV head */
  #splitHeads(graph: GraphBuilder, qkv: Value, { positions, active }: StepAttention) {
    const { heads, kvHeads, headDim } = this.#shape;
    const byToken = graph.op('Reshape', [qkv, graph.ints([1, -1, heads + 2 * kvHeads, headDim])]);
    const byHead = graph.op('Transpose', [byToken], { perm: [0, 2, 1, 3] });
    const [qk, values] = graph.ops('Split', [byHead, graph.ints([heads + kvHeads, kvHeads])], 2, { axis: 1 });
    const rotated = graph.op('RotaryEmbedding', [
      this.#normed(graph, qk),
      positions,
      this.#rope.cos,
      this.#rope.sin,
    ]);
    const [q, keys] = graph.ops('Split', [rotated, graph.ints([heads, kvHeads])], 2, { axis: 1 });
    const asking = graph.op('Gather', [q, active], { axis: 2 });
    const queries = graph.op('Reshape', [asking, graph.ints([1, kvHeads, -1, headDim])]);
    return { queries, rows: graph.op('Concat', [keys, values], { axis: 1 }) };
  }

  #normed(graph: GraphBuilder, qk: Value): Value {
    if (!this.#norms) return qk;
    const { heads, kvHeads } = this.#shape;
    const [q, k] = graph.ops('Split', [qk, graph.ints([heads, kvHeads])], 2, { axis: 1 });
    const query = normHeads(graph, q, this.#norms.query, this.#shape);
    const key = normHeads(graph, k, this.#norms.key, this.#shape);
    return graph.op('Concat', [query, key], { axis: 1 });
  }

  #scores(graph: GraphBuilder, queries: Value, keys: Value): Value {
    const alpha = { float: 1 / Math.sqrt(this.#shape.headDim) };
    return graph.op('FusedMatMul', [queries, keys], { transB: 1, alpha });
  }

  /** scores // [1, kvHeads, group * A, S], mask // [A, S] */
  #masked(graph: GraphBuilder, scores: Value, mask: Value): Value {
    const { heads, kvHeads } = this.#shape;
    if (heads === kvHeads) return graph.op('Add', [scores, mask]);
    // A zero keeps the dimension at its place.
    const byHead = graph.op('Reshape', [scores, graph.ints([kvHeads, heads / kvHeads, -1, 0])]);
    const hidden = graph.op('Add', [byHead, mask]);
    return graph.op('Reshape', [hidden, graph.ints([1, kvHeads, -1, 0])]);
  }
}
