import { gatedUnit } from './activations.ts';
import { type Architecture, ropeTables } from './architecture.ts';
import type { Attention, AttentionKernel, HeadNorms, RopeTables } from './attention.ts';
import { type Checkpoint, readTensor } from './checkpoint.ts';
import type { EmbeddingKernel } from './embedding.ts';
import { type FloatType, GraphBuilder, type Value } from './graphBuilder.ts';
import { type Linear, type LinearKernel, stackLinears } from './linear.ts';
import { logProbsOfLargest } from './logProbs.ts';
import type { Dimension, OnnxGraph } from './onnxModel.ts';
import type { ModelOutputs } from './targetOutputs.ts';
import type { WeightWriter } from './weightWriter.ts';

/** How one device runs one precision. */
export interface DecoderKernels {
  /** What is computed in, between the weights. Outputs are float32 in any case. */
  readonly activations: FloatType;
  readonly attention: AttentionKernel;
  readonly linear: LinearKernel;
  /** For the output projection, whose rounding reaches the logits directly. */
  readonly outputLinear: LinearKernel;
  readonly embedding: EmbeddingKernel;
  /** Whether the device takes one integer of several: a GPU leaves that to the CPU. */
  readonly gathersIntegers: boolean;
}

export interface DecoderGraphOptions extends DecoderKernels, ModelOutputs {}

/**
 * The graph of one forward pass over T new tokens on top of P rows of past.
 *
 * Inputs: tokens [1, T] int64; rows [R] int64, the tokens whose prediction is wanted.
 * Outputs: argmax [1, R] int64; logits [1, R, vocab]; tap_i [1, T, hidden]; successors [1, R, k] int64, best first,
 * and successor_log_probs [1, R, k].
 * KV rows and masks are the attention kernel's: see there.
 */
export async function buildDecoderGraph(
  checkpoint: Checkpoint,
  options: DecoderGraphOptions,
  weights: WeightWriter,
): Promise<OnnxGraph> {
  return new DecoderGraph(checkpoint, options, weights).build();
}

class DecoderGraph {
  readonly #checkpoint: Checkpoint;
  readonly #options: DecoderGraphOptions;
  readonly #graph: GraphBuilder;
  readonly #architecture: Architecture;

  constructor(checkpoint: Checkpoint, options: DecoderGraphOptions, weights: WeightWriter) {
    this.#checkpoint = checkpoint;
    this.#options = options;
    this.#architecture = checkpoint.architecture;
    this.#graph = new GraphBuilder(weights);
  }

  async build(): Promise<OnnxGraph> {
    const { layers } = this.#architecture;
    const attention = this.#options.attention(this.#graph, this.#architecture, await this.#rope());
    let residual = await this.#embed();
    this.#tap(0, residual);
    let normed = this.#graph.op(
      'SimplifiedLayerNormalization',
      [residual, await this.#norm(this.#layerNorm(0))],
      {
        axis: -1,
        epsilon: { float: this.#architecture.normEpsilon },
      },
    );
    for (let layer = 0; layer < layers; layer++) {
      const attended = await this.#attend(layer, normed, attention);
      [normed, residual] = await this.#addAndNorm(
        attended,
        residual,
        this.#name(layer, 'post_attention_layernorm'),
      );
      const fed = await this.#feedForward(layer, normed);
      [normed, residual] = await this.#addAndNorm(fed, residual, this.#layerNorm(layer + 1));
      this.#tap(layer + 1, residual);
    }
    await this.#predict(normed);
    attention.finish();
    return this.#graph.finish();
  }

  async #rope(): Promise<RopeTables> {
    const { contextLength, headDim } = this.#architecture;
    const { cos, sin } = ropeTables(this.#architecture);
    const shape = [contextLength, headDim / 2];
    return {
      cos: await this.#graph.floatWeight('rope.cos', this.#options.activations, shape, cos),
      sin: await this.#graph.floatWeight('rope.sin', this.#options.activations, shape, sin),
    };
  }

  async #embed(): Promise<Value> {
    const { vocabSize, hiddenSize } = this.#architecture;
    const tokens = this.#graph.input('tokens', 'int64', [1, 'T']);
    const weight = await this.#tensor('model.embed_tokens.weight');
    return this.#options.embedding(this.#graph, tokens, { vocabSize, hiddenSize, weight });
  }

  async #attend(layer: number, x: Value, attention: Attention): Promise<Value> {
    const qkv = await this.#linear(x, this.#options.linear, [
      this.#name(layer, 'self_attn.q_proj'),
      this.#name(layer, 'self_attn.k_proj'),
      this.#name(layer, 'self_attn.v_proj'),
    ]);
    const attended = attention.layer(layer, qkv, await this.#headNorms(layer));
    return this.#linear(attended, this.#options.linear, [this.#name(layer, 'self_attn.o_proj')]);
  }

  async #headNorms(layer: number): Promise<HeadNorms | undefined> {
    const { qkNorm, headDim } = this.#architecture;
    if (!qkNorm) return undefined;
    return {
      query: await this.#norm(this.#name(layer, 'self_attn.q_norm'), headDim),
      key: await this.#norm(this.#name(layer, 'self_attn.k_norm'), headDim),
    };
  }

  async #feedForward(layer: number, x: Value): Promise<Value> {
    const { intermediateSize } = this.#architecture;
    const both = await this.#linear(x, this.#options.linear, [
      this.#name(layer, 'mlp.gate_proj'),
      this.#name(layer, 'mlp.up_proj'),
    ]);
    const gated = gatedUnit(this.#graph, both, intermediateSize);
    return this.#linear(gated, this.#options.linear, [this.#name(layer, 'mlp.down_proj')]);
  }

  async #predict(normed: Value): Promise<void> {
    const { vocabSize, tiedEmbeddings } = this.#architecture;
    const rows = this.#graph.input('rows', 'int64', ['R']);
    const wanted = this.#graph.op('Gather', [normed, rows], { axis: 1 });
    const name = tiedEmbeddings ? 'model.embed_tokens' : 'lm_head';
    const logits = await this.#linear(wanted, this.#options.outputLinear, [name]);
    this.#output('logits', logits, [1, 'R', vocabSize]);
    const { successors, gathersIntegers } = this.#options;
    const best = successors === 0 ? undefined : this.#listSuccessors(logits);
    // Of equal logits both operators take the token with the lower id; going through them once is enough.
    const argmax =
      best !== undefined && gathersIntegers
        ? this.#graph.op('Gather', [best, this.#graph.index(0)], { axis: -1 })
        : this.#graph.op('ArgMax', [logits], { axis: -1, keepdims: 0 });
    this.#graph.output('argmax', argmax, 'int64', [1, 'R']);
  }

  /** @returns tokens, best first // [1, R, successors] */
  #listSuccessors(logits: Value): Value {
    const { successors, logProbs } = this.#options;
    const [largest, best] = this.#graph.ops('TopK', [logits, this.#graph.ints([successors])], 2);
    this.#graph.output('successors', best, 'int64', [1, 'R', successors]);
    if (logProbs === 'successors') {
      const ofBest = logProbsOfLargest(this.#graph, logits, largest);
      this.#output('successor_log_probs', ofBest, [1, 'R', successors]);
    }
    return best;
  }

  #tap(index: number, residual: Value): void {
    if (!this.#options.taps.includes(index)) return;
    this.#output(`tap_${index}`, residual, [1, 'T', this.#architecture.hiddenSize]);
  }

  #output(name: string, value: Value, shape: readonly Dimension[]): void {
    const { activations } = this.#options;
    const wide = activations === 'float32' ? value : this.#graph.op('Cast', [value], { to: 1 });
    this.#graph.output(name, wide, 'float32', shape);
  }

  async #linear(x: Value, kernel: LinearKernel, names: readonly string[]): Promise<Value> {
    const layers = await Promise.all(names.map((name) => this.#dense(name)));
    return kernel(this.#graph, x, stackLinears(layers));
  }

  async #dense(name: string): Promise<Linear> {
    const [outputs, inputs] = this.#checkpoint.tensors.get(`${name}.weight`)!.shape;
    const weight = await this.#tensor(`${name}.weight`);
    const bias = this.#hasBias(name) ? await this.#tensor(`${name}.bias`) : undefined;
    return { name, outputs, inputs, weight, bias };
  }

  // Decided by the architecture: a stray bias in the file is not part of the model.
  #hasBias(name: string): boolean {
    const { bias } = this.#architecture;
    if (/\.[qkv]_proj$/.test(name)) return bias.qkv;
    if (name.endsWith('o_proj')) return bias.output;
    return name.includes('.mlp.') && bias.mlp;
  }

  async #addAndNorm(x: Value, residual: Value, normName: string): Promise<[normed: Value, residual: Value]> {
    const [normed, , , sum] = this.#graph.ops(
      'SkipSimplifiedLayerNormalization',
      [x, residual, await this.#norm(normName)],
      4,
      { epsilon: { float: this.#architecture.normEpsilon } },
      [1, 2],
    );
    return [normed, sum];
  }

  async #norm(name: string, size = this.#architecture.hiddenSize): Promise<Value> {
    const weight = await this.#tensor(`${name}.weight`);
    return this.#graph.floatWeight(name, this.#options.activations, [size], weight);
  }

  /** The norm that the residual stream entering `layer` passes: after the last layer, the final one. */
  #layerNorm(layer: number): string {
    return layer < this.#architecture.layers ? this.#name(layer, 'input_layernorm') : 'model.norm';
  }

  #name(layer: number, part: string): string {
    return `model.layers.${layer}.${part}`;
  }

  #tensor(name: string): Promise<Float32Array> {
    return readTensor(this.#checkpoint, name);
  }
}
