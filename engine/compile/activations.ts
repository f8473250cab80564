import type { GraphBuilder, Value } from './graphBuilder.ts';

/** x * sigmoid(x), in one node: QuickGelu is x * sigmoid(alpha * x). */
export function silu(graph: GraphBuilder, x: Value): Value {
  return graph.op('QuickGelu', [x], { alpha: { float: 1 } });
}

/** silu(gate) * up. both // [..., 2 * size], the gate first -> [..., size] */
export function gatedUnit(graph: GraphBuilder, both: Value, size: number): Value {
  const [gate, up] = graph.ops('Split', [both, graph.ints([size, size])], 2, { axis: -1 });
  return graph.op('Mul', [silu(graph, gate), up]);
}
