/** Writes small checkpoints with random weights, in Hugging Face layout. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from './random.ts';

export interface CheckpointShape {
  readonly modelType: 'llama' | 'qwen2' | 'qwen3' | 'mimo';
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly tied: boolean;
  readonly contextLength: number;
  readonly ropeScaling?: Readonly<Record<string, unknown>>;
}

export const tinyShape: CheckpointShape = {
  modelType: 'llama',
  vocabSize: 96,
  hiddenSize: 32,
  intermediateSize: 48,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 8,
  tied: false,
  contextLength: 512,
};

/** A tensor of a safetensors file, float32. */
export interface NamedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

export function writeRandomCheckpoint(dir: string, shape: CheckpointShape, seed: number): string {
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'config.json'), JSON.stringify(configOf(shape)));
  writeFileSync(join(dir, 'model.safetensors'), safetensors(randomTensors(shape, new Random(seed))));
  return dir;
}

export function configOf(shape: CheckpointShape): Record<string, unknown> {
  return {
    model_type: shape.modelType,
    vocab_size: shape.vocabSize,
    hidden_size: shape.hiddenSize,
    intermediate_size: shape.intermediateSize,
    num_hidden_layers: shape.layers,
    num_attention_heads: shape.heads,
    num_key_value_heads: shape.kvHeads,
    head_dim: shape.headDim,
    max_position_embeddings: shape.contextLength,
    rms_norm_eps: 1e-6,
    tie_word_embeddings: shape.tied,
    eos_token_id: 0,
    hidden_act: 'silu',
    ...(shape.ropeScaling && { rope_scaling: shape.ropeScaling }),
  };
}

/** The file format: 8 bytes of header length, the header as JSON, the data. */
export function safetensors(tensors: readonly NamedTensor[]): Buffer {
  let offset = 0;
  const entries = tensors.map(({ name, shape, data }) => {
    const start = offset;
    offset += data.byteLength;
    return [name, { dtype: 'F32', shape, data_offsets: [start, offset] }];
  });
  return withHeader(
    JSON.stringify(Object.fromEntries(entries)),
    Buffer.concat(tensors.map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength))),
  );
}

export function withHeader(header: string, data: Buffer): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(header)));
  return Buffer.concat([length, Buffer.from(header), data]);
}

export function randomTensors(shape: CheckpointShape, random: Random): NamedTensor[] {
  const tensors: NamedTensor[] = [];
  const add = (name: string, dimensions: number[], around: number, spread: number) => {
    const size = dimensions.reduce((product, dimension) => product * dimension, 1);
    const data = Float32Array.from({ length: size }, () => around + spread * (2 * random.next() - 1));
    tensors.push({ name, shape: dimensions, data });
  };
  const linear = (name: string, outputs: number, inputs: number, bias: boolean) => {
    add(`${name}.weight`, [outputs, inputs], 0, 3 / Math.sqrt(inputs));
    if (bias) add(`${name}.bias`, [outputs], 0, 0.3);
  };
  const { hiddenSize, intermediateSize, vocabSize, headDim } = shape;
  const bias = shape.modelType === 'qwen2' || shape.modelType === 'mimo';
  add('model.embed_tokens.weight', [vocabSize, hiddenSize], 0, 1);
  add('model.norm.weight', [hiddenSize], 1, 0.3);
  if (!shape.tied) linear('lm_head', vocabSize, hiddenSize, false);
  for (let layer = 0; layer < shape.layers; layer++) {
    const prefix = `model.layers.${layer}`;
    add(`${prefix}.input_layernorm.weight`, [hiddenSize], 1, 0.3);
    add(`${prefix}.post_attention_layernorm.weight`, [hiddenSize], 1, 0.3);
    if (shape.modelType === 'qwen3') {
      add(`${prefix}.self_attn.q_norm.weight`, [headDim], 1, 0.3);
      add(`${prefix}.self_attn.k_norm.weight`, [headDim], 1, 0.3);
    }
    linear(`${prefix}.self_attn.q_proj`, shape.heads * headDim, hiddenSize, bias);
    linear(`${prefix}.self_attn.k_proj`, shape.kvHeads * headDim, hiddenSize, bias);
    linear(`${prefix}.self_attn.v_proj`, shape.kvHeads * headDim, hiddenSize, bias);
    linear(`${prefix}.self_attn.o_proj`, hiddenSize, shape.heads * headDim, false);
    linear(`${prefix}.mlp.gate_proj`, intermediateSize, hiddenSize, false);
    linear(`${prefix}.mlp.up_proj`, intermediateSize, hiddenSize, false);
    linear(`${prefix}.mlp.down_proj`, hiddenSize, intermediateSize, false);
  }
  return tensors;
}
