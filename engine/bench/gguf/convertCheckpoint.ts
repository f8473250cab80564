import type { Architecture } from '../../compile/architecture.ts';
import { type Checkpoint, openCheckpoint, readTensor } from '../../compile/checkpoint.ts';
import { toFloat16 } from '../../compile/floats.ts';
import { SlipstreamError } from '../../errors.ts';
import { loadTokenizer } from '../../model/tokenizer.ts';
import { readTokenizerFile } from '../../model/tokenizerFiles.ts';
import type { GgufModel, GgufTensor, GgufTensorType, GgufValue } from './ggufFile.ts';
import { toQ8Blocks } from './q8Blocks.ts';

/** A draft model has no tokenizer of its own: it shares the one of the model that it drafts for. */
export interface GgufSource {
  readonly checkpointDir: string;
  readonly tokenizerDir: string;
}

/** How the matrices are stored; norms and biases stay float32, as in llama.cpp's own conversions. */
export type GgufPrecision = 'f16' | 'q8_0';

/** LLAMA_FTYPE_MOSTLY_F16 and _Q8_0 of llama.h. */
const fileTypes: Readonly<Record<GgufPrecision, number>> = { f16: 1, q8_0: 7 };
/** Types of tokens in llama.h. */
const NORMAL_TOKEN = 1;
const CONTROL_TOKEN = 3;

/** The names of a layer's tensors, here and in llama.cpp (gguf-py, tensor_mapping.py). */
const layerNames: Readonly<Record<string, string>> = {
  input_layernorm: 'attn_norm',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  post_attention_layernorm: 'ffn_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
};

/**
 * A Qwen2 checkpoint in Hugging Face layout as the peer reads it: the same weights, the same token ids.
 *
 * @throws SlipstreamError model.unsupported for other families (llama.cpp wants Llama's rotary rows permuted)
 */
export async function convertCheckpoint(
  { checkpointDir, tokenizerDir }: GgufSource,
  precision: GgufPrecision,
): Promise<GgufModel> {
  const checkpoint = await openCheckpoint(checkpointDir);
  const { family, ropeScaling } = checkpoint.architecture;
  if (family !== 'qwen2' || ropeScaling.type !== 'none') {
    throw new SlipstreamError(
      'model.unsupported',
      `${checkpointDir}: only plain Qwen2 checkpoints are converted to GGUF for the comparison.`,
    );
  }
  const tensors: GgufTensor[] = [];
  for (const name of checkpoint.tensors.keys())
    tensors.push(await convertTensor(checkpoint, name, precision));
  const metadata = new Map([
    ...architectureMetadata(checkpoint, precision),
    ...(await tokenizerMetadata(tokenizerDir, checkpoint)),
  ]);
  return { metadata, tensors };
}

async function convertTensor(
  checkpoint: Checkpoint,
  name: string,
  precision: GgufPrecision,
): Promise<GgufTensor> {
  const { shape } = checkpoint.tensors.get(name)!;
  const values = await readTensor(checkpoint, name);
  const type = tensorType(shape, precision);
  return { name: ggufName(name), type, shape, data: encode(values, type) };
}

function tensorType(shape: readonly number[], precision: GgufPrecision): GgufTensorType {
  if (shape.length === 1) return 'F32';
  return precision === 'q8_0' && shape[1] % 32 === 0 ? 'Q8_0' : 'F16';
}

function encode(values: Float32Array, type: GgufTensorType): Uint8Array {
  switch (type) {
    case 'F32':
      return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    case 'F16':
      return new Uint8Array(toFloat16(values).buffer);
    case 'Q8_0':
      return toQ8Blocks(values);
  }
}

function ggufName(name: string): string {
  if (name === 'model.embed_tokens.weight') return 'token_embd.weight';
  if (name === 'model.norm.weight') return 'output_norm.weight';
  if (name === 'lm_head.weight') return 'output.weight';
  const [, layer, part, kind] = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(name) ?? [];
  if (layerNames[part] === undefined) {
    throw new SlipstreamError('model.unsupported', `llama.cpp has no name for the tensor ${name}.`);
  }
  return `blk.${layer}.${layerNames[part]}.${kind}`;
}

const uint32 = (value: number): GgufValue => ({ type: 'uint32', value });
const float32 = (value: number): GgufValue => ({ type: 'float32', value });
const string = (value: string): GgufValue => ({ type: 'string', value });

function architectureMetadata(
  { name, architecture }: Checkpoint,
  precision: GgufPrecision,
): [string, GgufValue][] {
  const a: Architecture = architecture;
  return [
    ['general.architecture', string('qwen2')],
    ['general.name', string(name)],
    ['general.file_type', uint32(fileTypes[precision])],
    ['qwen2.block_count', uint32(a.layers)],
    ['qwen2.context_length', uint32(a.contextLength)],
    ['qwen2.embedding_length', uint32(a.hiddenSize)],
    ['qwen2.feed_forward_length', uint32(a.intermediateSize)],
    ['qwen2.attention.head_count', uint32(a.heads)],
    ['qwen2.attention.head_count_kv', uint32(a.kvHeads)],
    ['qwen2.attention.layer_norm_rms_epsilon', float32(a.normEpsilon)],
    ['qwen2.attention.key_length', uint32(a.headDim)],
    ['qwen2.attention.value_length', uint32(a.headDim)],
    ['qwen2.rope.freq_base', float32(a.ropeTheta)],
  ];
}

async function tokenizerMetadata(
  tokenizerDir: string,
  { architecture, eosTokenIds }: Checkpoint,
): Promise<[string, GgufValue][]> {
  const { model } = await readTokenizerFile(tokenizerDir);
  const { specialTokens } = await loadTokenizer(tokenizerDir);
  // Ids that the tokenizer does not know (a padded vocabulary) still need a name of their own.
  const tokens = Array.from({ length: architecture.vocabSize }, (_, id) => `[PAD${id}]`);
  for (const [token, id] of [...Object.entries(model.vocab), ...specialTokens]) tokens[id] = token;
  const control = new Set(specialTokens.values());
  const types = tokens.map((_, id) => (control.has(id) ? CONTROL_TOKEN : NORMAL_TOKEN));
  const merges = model.merges.map((merge) => (Array.isArray(merge) ? merge.join(' ') : String(merge)));
  return [
    ['tokenizer.ggml.model', string('gpt2')],
    ['tokenizer.ggml.pre', string('qwen2')],
    ['tokenizer.ggml.tokens', { type: 'strings', value: tokens }],
    ['tokenizer.ggml.token_type', { type: 'int32s', value: types }],
    ['tokenizer.ggml.merges', { type: 'strings', value: merges }],
    ['tokenizer.ggml.eos_token_id', uint32(eosTokenIds[0])],
    ['tokenizer.ggml.add_bos_token', { type: 'bool', value: false }],
  ];
}
