/** Writes small speculative heads with random weights, in the layouts that are published. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from './random.ts';
import { type CheckpointShape, type NamedTensor, safetensors } from './randomCheckpoint.ts';

export type RandomHeadKind = 'eagle' | 'eagle3';

/** A head for a target of this shape, of one layer with the target's sizes. @returns its folder */
export function writeRandomHead(
  dir: string,
  kind: RandomHeadKind,
  target: CheckpointShape,
  seed: number,
): string {
  mkdirSync(dir, { recursive: true });
  const tensors = kind === 'eagle' ? eagleTensors(target, seed) : eagle3Tensors(target, seed);
  writeFileSync(join(dir, 'config.json'), JSON.stringify(headConfig(kind, target)));
  writeFileSync(join(dir, 'model.safetensors'), safetensors(tensors));
  return dir;
}

function headConfig(kind: RandomHeadKind, target: CheckpointShape): Record<string, unknown> {
  return {
    model_type: 'llama',
    vocab_size: target.vocabSize,
    hidden_size: target.hiddenSize,
    intermediate_size: target.intermediateSize,
    num_hidden_layers: 1,
    num_attention_heads: target.heads,
    num_key_value_heads: target.kvHeads,
    head_dim: target.headDim,
    max_position_embeddings: target.contextLength,
    rms_norm_eps: 1e-6,
    hidden_act: 'silu',
    ...(kind === 'eagle3' && { draft_vocab_size: target.vocabSize }),
  };
}

function eagleTensors(target: CheckpointShape, seed: number): NamedTensor[] {
  const { hiddenSize } = target;
  const tensors = new RandomTensors(seed);
  tensors.add('embed_tokens.weight', [target.vocabSize, hiddenSize], 0, 1);
  tensors.dense('fc', hiddenSize, 2 * hiddenSize);
  tensors.add('fc.bias', [hiddenSize], 0, 0.3);
  tensors.layer('layers.0', target, hiddenSize);
  return tensors.written;
}

function eagle3Tensors(target: CheckpointShape, seed: number): NamedTensor[] {
  const { hiddenSize, vocabSize } = target;
  const tensors = new RandomTensors(seed);
  tensors.dense('fc', hiddenSize, 3 * hiddenSize);
  tensors.layer('midlayer', target, 2 * hiddenSize);
  for (const norm of ['midlayer.input_layernorm', 'midlayer.hidden_norm', 'norm']) {
    tensors.add(`${norm}.weight`, [hiddenSize], 1, 0.3);
  }
  tensors.dense('lm_head', vocabSize, hiddenSize);
  return tensors.written;
}

class RandomTensors {
  readonly written: NamedTensor[] = [];
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  add(name: string, shape: number[], around: number, spread: number): void {
    const size = shape.reduce((product, dimension) => product * dimension, 1);
    const data = Float32Array.from({ length: size }, () => around + spread * (2 * this.#random.next() - 1));
    this.written.push({ name, shape, data });
  }

  dense(name: string, outputs: number, inputs: number): void {
    this.add(`${name}.weight`, [outputs, inputs], 0, 1.7 / Math.sqrt(inputs));
  }

  /** @param width of what its attention reads */
  layer(prefix: string, shape: CheckpointShape, width: number): void {
    const { hiddenSize, intermediateSize, heads, kvHeads, headDim } = shape;
    this.dense(`${prefix}.self_attn.q_proj`, heads * headDim, width);
    this.dense(`${prefix}.self_attn.k_proj`, kvHeads * headDim, width);
    this.dense(`${prefix}.self_attn.v_proj`, kvHeads * headDim, width);
    this.dense(`${prefix}.self_attn.o_proj`, hiddenSize, heads * headDim);
    this.dense(`${prefix}.mlp.gate_proj`, intermediateSize, hiddenSize);
    this.dense(`${prefix}.mlp.up_proj`, intermediateSize, hiddenSize);
    this.dense(`${prefix}.mlp.down_proj`, hiddenSize, intermediateSize);
    this.add(`${prefix}.post_attention_layernorm.weight`, [hiddenSize], 1, 0.3);
  }
}
