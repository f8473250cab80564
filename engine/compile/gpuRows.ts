import type { Architecture } from './architecture.ts';
import type { ElementType, OnnxGraph, OnnxNode, ValueInfo } from './onnxModel.ts';

/**
 * The two things that are done with KV rows on a device beside attention. Both are small graphs of their own, so that no
 * row ever passes through the host.
 */

/**
 * A larger copy of KV rows: the new ones are zero.
 *
 * Inputs: rows [1, kvHeads, C, headDim]; pads [8] int64 (as Pad has them). Output: grown.
 */
export function growRowsGraph(type: ElementType): OnnxGraph {
  const shape = [1, 'H', 'C', 'D'];
  return {
    nodes: [node('Pad', ['rows', 'pads'], ['grown'])],
    initializers: [],
    inputs: [
      { name: 'rows', type, shape },
      { name: 'pads', type: 'int64', shape: [8] },
    ],
    outputs: [{ name: 'grown', type, shape: [1, 'H', 'G', 'D'] }],
  };
}

/**
 * Moves rows of all layers: row `from[i]` to where `to` says. All are read before one is written when a layer's output is
 * the same buffer as its input.
 *
 * Inputs: from [N] int64; to [1, kvHeads, N, 3] int64, the place of each row in ScatterND's terms: (0, head, row);
 * keys_i, values_i [1, kvHeads, C, headDim]. Outputs: keys_out_i, values_out_i.
 */
export function moveRowsGraph({ layers, kvHeads, headDim }: Architecture, type: ElementType): OnnxGraph {
  const names = Array.from({ length: layers }, (_, layer) =>
    [`keys`, `values`].map((part) => ({ part, layer })),
  );
  const parts = names.flat();
  const rows = (name: string): ValueInfo => ({ name, type, shape: [1, kvHeads, 'C', headDim] });
  return {
    nodes: parts.flatMap(({ part, layer }) => {
      const [moved, source] = [`moved_${part}_${layer}`, `${part}_${layer}`];
      return [
        node('Gather', [source, 'from'], [moved], { axis: 2 }),
        node('ScatterND', [source, 'to', moved], [`${part}_out_${layer}`]),
      ];
    }),
    initializers: [],
    inputs: [
      { name: 'from', type: 'int64', shape: ['N'] },
      { name: 'to', type: 'int64', shape: [1, kvHeads, 'N', 3] },
      ...parts.map(({ part, layer }) => rows(`${part}_${layer}`)),
    ],
    outputs: parts.map(({ part, layer }) => rows(`${part}_out_${layer}`)),
  };
}

function node(
  op: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: OnnxNode['attributes'] = {},
): OnnxNode {
  return { op, domain: '', inputs, outputs, attributes };
}
