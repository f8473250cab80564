import type { Architecture } from '../architecture.ts';
import { type Checkpoint, readTensor } from '../checkpoint.ts';
import type { DecoderKernels } from '../decoderGraph.ts';
import type { GraphBuilder, Value } from '../graphBuilder.ts';
import { type Linear, stackLinears } from '../linear.ts';
import { type NamedTensor, readFloats } from '../storedTensor.ts';
import type { DenseTensors, TokenTable } from './head.ts';

/** Writes a head's weights, and those it borrows from its target, with the kernels of one precision. */
export class HeadWeights {
  readonly #target: Checkpoint;
  readonly #kernels: DecoderKernels;
  readonly #epsilon: number;

  constructor(target: Checkpoint, kernels: DecoderKernels, epsilon: number) {
    this.#target = target;
    this.#kernels = kernels;
    this.#epsilon = epsilon;
  }

  get target(): Architecture {
    return this.#target.architecture;
  }

  /** Layers that read the same input. x // [..., inputs] -> [..., sum of outputs] */
  async dense(graph: GraphBuilder, x: Value, layers: readonly DenseTensors[]): Promise<Value> {
    return this.#kernels.linear(graph, x, stackLinears(await Promise.all(layers.map(readDense))));
  }

  /** hidden // [1, T, hidden] -> logits [1, T, vocabulary of the table] */
  async logits(graph: GraphBuilder, hidden: Value, table: TokenTable): Promise<Value> {
    const { tiedEmbeddings, vocabSize, hiddenSize } = this.target;
    if (table.from === 'head') {
      return this.#kernels.outputLinear(graph, hidden, await readDense({ weight: table.weight }));
    }
    const name = tiedEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';
    const weight = await readTensor(this.#target, name);
    return this.#kernels.outputLinear(graph, hidden, {
      name,
      outputs: vocabSize,
      inputs: hiddenSize,
      weight,
    });
  }

  /** tokens // [1, T] int64 -> [1, T, hidden] */
  async embed(graph: GraphBuilder, tokens: Value, table: TokenTable): Promise<Value> {
    const weight =
      table.from === 'head'
        ? await readFloats(table.weight)
        : await readTensor(this.#target, 'model.embed_tokens.weight');
    const { vocabSize } = this.target;
    return this.#kernels.embedding(graph, tokens, {
      vocabSize,
      hiddenSize: weight.length / vocabSize,
      weight,
    });
  }

  /** RMS norm over the last axis; `x` itself where the head has no such norm. */
  async norm(graph: GraphBuilder, x: Value, tensor: NamedTensor | undefined): Promise<Value> {
    if (!tensor) return x;
    return rmsNorm(graph, x, await this.vector(graph, tensor), this.#epsilon);
  }

  /** The norm that ends the target, with the target's epsilon. */
  async targetNorm(graph: GraphBuilder, x: Value): Promise<Value> {
    const { hiddenSize, normEpsilon } = this.target;
    const values = await readTensor(this.#target, 'model.norm.weight');
    const weight = await graph.floatWeight('target.norm', 'float32', [hiddenSize], values);
    return rmsNorm(graph, x, weight, normEpsilon);
  }

  /** The norm of `x` + `residual`, and that sum. */
  async addAndNorm(
    graph: GraphBuilder,
    x: Value,
    residual: Value,
    tensor: NamedTensor,
  ): Promise<[normed: Value, sum: Value]> {
    const [normed, , , sum] = graph.ops(
      'SkipSimplifiedLayerNormalization',
      [x, residual, await this.vector(graph, tensor)],
      4,
      { epsilon: { float: this.#epsilon } },
      [1, 2],
    );
    return [normed, sum];
  }

  async vector(graph: GraphBuilder, tensor: NamedTensor): Promise<Value> {
    return graph.floatWeight(tensor.name, 'float32', tensor.shape, await readFloats(tensor));
  }
}

function rmsNorm(graph: GraphBuilder, x: Value, weight: Value, epsilon: number): Value {
  return graph.op('SimplifiedLayerNormalization', [x, weight], { axis: -1, epsilon: { float: epsilon } });
}

async function readDense({ weight, bias }: DenseTensors): Promise<Linear> {
  const [outputs, inputs] = weight.shape;
  return {
    name: weight.name,
    outputs,
    inputs,
    weight: await readFloats(weight),
    bias: bias && (await readFloats(bias)),
  };
}
