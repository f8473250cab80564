/** Writes folders with speculative heads of random weights, spelled as the projects that publish them spell them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Architecture } from '../engine/compile/architecture.ts';
import { Random } from './random.ts';
import { withHeader } from './randomCheckpoint.ts';

/** A tensor by its shape, filled at random; or by its values. */
export type HeadWeight = readonly number[] | BigInt64Array | boolean[];
export type HeadWeights = Readonly<Record<string, HeadWeight>>;

export interface HeadFolder {
  readonly config: Readonly<Record<string, unknown>>;
  readonly weights: HeadWeights;
  readonly file?: string;
}

export function writeHead(dir: string, { config, weights, file = 'model.safetensors' }: HeadFolder): string {
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'config.json'), JSON.stringify(config));
  writeFileSync(join(dir, file), safetensorsOf(weights));
  return dir;
}

function safetensorsOf(weights: HeadWeights): Buffer {
  const random = new Random(1);
  const header: Record<string, unknown> = {};
  const parts: Buffer[] = [];
  let offset = 0;
  for (const [name, weight] of Object.entries(weights)) {
    const { dtype, shape, data } = stored(weight, random);
    header[name] = { dtype, shape, data_offsets: [offset, offset + data.length] };
    parts.push(data);
    offset += data.length;
  }
  return withHeader(JSON.stringify(header), Buffer.concat(parts));
}

function stored(weight: HeadWeight, random: Random) {
  if (weight instanceof BigInt64Array) {
    return { dtype: 'I64', shape: [weight.length], data: Buffer.from(weight.buffer) };
  }
  if (isMask(weight)) return { dtype: 'BOOL', shape: [weight.length], data: Buffer.from(weight.map(Number)) };
  const size = weight.reduce((product, dimension) => product * dimension, 1);
  const values = Float32Array.from({ length: size }, () => random.next() - 0.5);
  return { dtype: 'F32', shape: weight, data: Buffer.from(values.buffer) };
}

export function isMask(weight: readonly number[] | boolean[]): weight is boolean[] {
  return typeof weight[0] === 'boolean';
}

/** A model that heads are written for. */
export const headTarget: Architecture = {
  family: 'qwen3',
  vocabSize: 50,
  hiddenSize: 16,
  intermediateSize: 20,
  layers: 8,
  heads: 4,
  kvHeads: 2,
  headDim: 6,
  normEpsilon: 1e-6,
  ropeTheta: 1e6,
  ropeScaling: { type: 'none' },
  contextLength: 512,
  tiedEmbeddings: false,
  bias: { qkv: false, output: false, mlp: false },
  qkNorm: true,
};

/** config.json of a head's layer for `headTarget`. */
export const layerConfig = {
  model_type: 'llama',
  hidden_size: 16,
  intermediate_size: 24,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 8,
  num_hidden_layers: 1,
  rms_norm_eps: 1e-5,
  vocab_size: 50,
  max_position_embeddings: 128,
  hidden_act: 'silu',
};

/** The tensors of such a layer. */
export function layerWeights(prefix: string, inputSize: number): Record<string, HeadWeight> {
  return {
    [`${prefix}.self_attn.q_proj.weight`]: [16, inputSize],
    [`${prefix}.self_attn.k_proj.weight`]: [8, inputSize],
    [`${prefix}.self_attn.v_proj.weight`]: [8, inputSize],
    [`${prefix}.self_attn.o_proj.weight`]: [16, 16],
    [`${prefix}.mlp.gate_proj.weight`]: [24, 16],
    [`${prefix}.mlp.up_proj.weight`]: [24, 16],
    [`${prefix}.mlp.down_proj.weight`]: [16, 24],
    [`${prefix}.post_attention_layernorm.weight`]: [16],
  };
}

const DRAFT_VOCABULARY = 20;
/** Every second token of the target. */
const draftOffsets = BigInt64Array.from({ length: DRAFT_VOCABULARY }, (_, i) => BigInt(i));
const draftMask = Array.from({ length: 50 }, (_, id) => id % 2 === 0 && id < 2 * DRAFT_VOCABULARY);

export const eagleFolder: HeadFolder = {
  config: layerConfig,
  weights: {
    'embed_tokens.weight': [50, 16],
    'fc.weight': [16, 32],
    'fc.bias': [16],
    ...layerWeights('layers.0', 16),
  },
};

/** SafeAILab's and SpecForge's spelling. */
export const eagle3Folder: HeadFolder = {
  config: { ...layerConfig, draft_vocab_size: DRAFT_VOCABULARY },
  weights: {
    d2t: draftOffsets,
    t2d: draftMask,
    'fc.weight': [16, 48],
    ...layerWeights('midlayer', 32),
    'midlayer.hidden_norm.weight': [16],
    'midlayer.input_layernorm.weight': [16],
    'norm.weight': [16],
    'lm_head.weight': [DRAFT_VOCABULARY, 16],
  },
};

export const medusaFolder: HeadFolder = {
  config: { medusa_num_heads: 2, medusa_num_layers: 1, base_model_name_or_path: 'lmsys/vicuna-7b-v1.3' },
  weights: {
    '0.0.linear.weight': [16, 16],
    '0.0.linear.bias': [16],
    '0.1.weight': [50, 16],
    '1.0.linear.weight': [16, 16],
    '1.0.linear.bias': [16],
    '1.1.weight': [50, 16],
  },
  file: 'medusa_lm_head.safetensors',
};

/** `headTarget` as a config.json, and the tensors of one of its layers. */
const modelConfig = {
  ...layerConfig,
  model_type: headTarget.family,
  num_hidden_layers: headTarget.layers,
  num_nextn_predict_layers: 1,
};

export function modelLayerWeights(prefix: string): Record<string, HeadWeight> {
  return {
    [`${prefix}.self_attn.q_proj.weight`]: [24, 16],
    [`${prefix}.self_attn.k_proj.weight`]: [12, 16],
    [`${prefix}.self_attn.v_proj.weight`]: [12, 16],
    [`${prefix}.self_attn.o_proj.weight`]: [16, 24],
    [`${prefix}.self_attn.q_norm.weight`]: [6],
    [`${prefix}.self_attn.k_norm.weight`]: [6],
    [`${prefix}.mlp.gate_proj.weight`]: [20, 16],
    [`${prefix}.mlp.up_proj.weight`]: [20, 16],
    [`${prefix}.mlp.down_proj.weight`]: [16, 20],
    [`${prefix}.input_layernorm.weight`]: [16],
    [`${prefix}.post_attention_layernorm.weight`]: [16],
  };
}

export const mimoFolder: HeadFolder = {
  config: modelConfig,
  weights: {
    'model.embed_tokens.weight': [50, 16],
    ...modelLayerWeights('model.mtp_layers.0'),
    'model.mtp_layers.0.token_layernorm.weight': [16],
    'model.mtp_layers.0.hidden_layernorm.weight': [16],
    'model.mtp_layers.0.input_proj.weight': [16, 32],
    'model.mtp_layers.0.final_layernorm.weight': [16],
  },
};

export const deepSeekFolder: HeadFolder = {
  config: modelConfig,
  weights: {
    'model.embed_tokens.weight': [50, 16],
    ...modelLayerWeights('model.layers.8'),
    'model.layers.8.enorm.weight': [16],
    'model.layers.8.hnorm.weight': [16],
    'model.layers.8.eh_proj.weight': [16, 32],
    'model.layers.8.shared_head.norm.weight': [16],
    'model.layers.8.shared_head.head.weight': [50, 16],
    'model.layers.8.embed_tokens.weight': [50, 16],
  },
};
