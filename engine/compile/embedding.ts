import { toFloat16 } from './floats.ts';
import type { GraphBuilder, Value } from './graphBuilder.ts';
import { quantizeBlocks } from './quantize.ts';

export interface EmbeddingTable {
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly weight: Float32Array; // [vocab, hidden]
}

/** Writes the table and looks tokens up in it. tokens // [1, T] int64 -> [1, T, hidden] */
export type EmbeddingKernel = (graph: GraphBuilder, tokens: Value, table: EmbeddingTable) => Promise<Value>;

export const float32Embedding: EmbeddingKernel = async (graph, tokens, { vocabSize, hiddenSize, weight }) => {
  const table = await graph.weight('embedding', 'float32', [vocabSize, hiddenSize], weight);
  return graph.op('Gather', [table, tokens]);
};

/** Rows of half the size, left as they are: for a graph that computes in float16. */
export const float16Embedding: EmbeddingKernel = async (graph, tokens, { vocabSize, hiddenSize, weight }) => {
  const table = await graph.weight('embedding', 'float16', [vocabSize, hiddenSize], toFloat16(weight));
  return graph.op('Gather', [table, tokens]);
};

/** Rows of half the size for a graph that computes in float32. */
export const widenedEmbedding: EmbeddingKernel = async (graph, tokens, table) =>
  graph.op('Cast', [await float16Embedding(graph, tokens, table)], { to: 1 });

/** 8 bits and a scale a block, for devices that cannot read float16: a quarter of float32. */
export const quantizedEmbedding: EmbeddingKernel = async (
  graph,
  tokens,
  { vocabSize, hiddenSize, weight },
) => {
  const blockSize = 32;
  const { packed, scales, blocks } = quantizeBlocks(weight, vocabSize, hiddenSize, 8, blockSize);
  const width = hiddenSize;
  const rows = blocks * blockSize === width ? packed : cutRows(packed, blocks * blockSize, width);
  const table = await graph.weight('embedding', 'uint8', [vocabSize, width], rows);
  const tableScales = await graph.weight('embedding.scales', 'float32', [vocabSize, blocks], scales);
  return graph.op('GatherBlockQuantized', [table, tokens, tableScales], {
    bits: 8,
    block_size: blockSize,
    gather_axis: 0,
    quantize_axis: 1,
  });
};

/** Drops the padding at the end of every row. */
function cutRows(packed: Uint8Array, stride: number, width: number): Uint8Array {
  const rows = packed.length / stride;
  const out = new Uint8Array(rows * width);
  for (let row = 0; row < rows; row++) {
    out.set(packed.subarray(row * stride, row * stride + width), row * width);
  }
  return out;
}
