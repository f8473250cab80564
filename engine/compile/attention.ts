import type { Architecture } from './architecture.ts';
import type { GraphBuilder, Value } from './graphBuilder.ts';

/** Rotary tables as values of the graph: each [context, headDim / 2]. */
export interface RopeTables {
  readonly cos: Value;
  readonly sin: Value;
}

/** The weights of the norms that queries and keys pass before they are rotated: each [headDim], the same for every head. */
export interface HeadNorms {
  readonly query: Value;
  readonly key: Value;
}

/** Attention as one device does it, being added to a graph layer by layer. */
export interface Attention {
  /**
   * @param qkv [1, T, (heads + 2 * kvHeads) * headDim], not yet rotated
   * @param norms present where LayerShape.qkNorm says so
   * @returns [1, T, heads * headDim]
   */
  layer(layer: number, qkv: Value, norms: HeadNorms | undefined): Value;
  /** Declares what all layers together hand out. */
  finish(): void;
}

/** Declares the inputs that a device's attention reads, its KV rows among them. */
export type AttentionKernel = (graph: GraphBuilder, shape: AttentionShape, rope: RopeTables) => Attention;

export type AttentionShape = Pick<Architecture, 'layers' | 'heads' | 'kvHeads' | 'headDim' | 'normEpsilon'>;

/** x // [..., headDim]: every head on its own. */
export function normHeads(
  graph: GraphBuilder,
  x: Value,
  weight: Value,
  { normEpsilon }: Pick<AttentionShape, 'normEpsilon'>,
): Value {
  return graph.op('SimplifiedLayerNormalization', [x, weight], { axis: -1, epsilon: { float: normEpsilon } });
}
