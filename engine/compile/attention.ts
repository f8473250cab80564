import type { Architecture } from './architecture.ts';
import type { GraphBuilder, Value } from './graphBuilder.ts';

/** Rotary tables as values of the graph: each [context, headDim / 2]. */
export interface RopeTables {
  readonly cos: Value;
  readonly sin: Value;
}

/** Attention as one device does it, being added to a graph layer by layer. */
export interface Attention {
  /**
   * @param qkv [1, T, (heads + 2 * kvHeads) * headDim], not yet rotated
   * @returns [1, T, heads * headDim]
   */
  layer(layer: number, qkv: Value): Value;
  /** Declares what all layers together hand out. */
  finish(): void;
}

/** Declares the inputs that a device's attention reads, its KV rows among them. */
export type AttentionKernel = (
  graph: GraphBuilder,
  architecture: Architecture,
  rope: RopeTables,
) => Attention;

export type HeadShape = Pick<Architecture, 'heads' | 'kvHeads' | 'headDim'>;
