import { access } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { SlipstreamError } from '../errors.ts';
import type { Architecture } from './architecture.ts';
import { ConfigReader } from './config.ts';
import { parseArchitecture } from './families.ts';
import { readSafetensorsHeader } from './safetensors.ts';
import { readFloats, type StoredTensor } from './storedTensor.ts';

/** A checkpoint on disk in Hugging Face layout: parsed, complete and of the right shapes, not yet loaded. */
export interface Checkpoint {
  readonly dir: string;
  readonly name: string;
  readonly architecture: Architecture;
  readonly eosTokenIds: readonly number[];
  readonly tensors: ReadonlyMap<string, StoredTensor>;
}

/**
 * @throws SlipstreamError model.notFound, model.corrupt or model.unsupported, naming the file; nothing has been
 *   allocated for weights by then
 */
export async function openCheckpoint(dir: string): Promise<Checkpoint> {
  const config = await ConfigReader.read(join(dir, 'config.json'));
  const architecture = parseArchitecture(config);
  const tensors = new Map<string, StoredTensor>();
  for (const file of await weightFiles(dir)) {
    for (const [name, tensor] of await readSafetensorsHeader(file)) tensors.set(name, tensor);
  }
  checkTensors(dir, architecture, tensors);
  return { dir, name: basename(dir), architecture, eosTokenIds: await eosTokenIds(dir, config), tensors };
}

/** One tensor as float32, row-major. */
export async function readTensor(checkpoint: Checkpoint, name: string): Promise<Float32Array> {
  const tensor = checkpoint.tensors.get(name);
  if (!tensor) throw new SlipstreamError('model.corrupt', `${checkpoint.dir}: tensor ${name} is missing.`);
  return readFloats({ ...tensor, name });
}

/** The weight files of a folder, in the order of the index; the one named `name` where there is no index. */
export async function weightFiles(dir: string, name = 'model.safetensors'): Promise<string[]> {
  const indexFile = join(dir, `${name}.index.json`);
  if (!(await exists(indexFile))) return [join(dir, name)];
  const weightMap = (await ConfigReader.read(indexFile)).raw('weight_map');
  const names = typeof weightMap === 'object' && weightMap !== null ? Object.values(weightMap) : [];
  // A shard is a file of this folder: a path that leads elsewhere is not followed.
  if (names.length === 0 || !names.every(isFileName)) {
    throw new SlipstreamError('model.corrupt', `${indexFile}: "weight_map" does not name the weight files.`);
  }
  return [...new Set(names)].map((name) => join(dir, name));
}

function isFileName(name: unknown): name is string {
  return typeof name === 'string' && name === basename(name) && !['', '.', '..'].includes(name);
}

function checkTensors(dir: string, architecture: Architecture, tensors: ReadonlyMap<string, StoredTensor>) {
  for (const [name, shape] of expectedTensors(architecture)) {
    const tensor = tensors.get(name);
    if (!tensor)
      throw new SlipstreamError('model.corrupt', `${dir}: tensor ${name} is missing from the weights.`);
    if (tensor.shape.length !== shape.length || tensor.shape.some((size, i) => size !== shape[i])) {
      throw new SlipstreamError(
        'model.corrupt',
        `${tensor.file}: ${name} has shape [${tensor.shape}], config.json says [${shape}].`,
      );
    }
    if (!['F32', 'F16', 'BF16'].includes(tensor.type)) {
      throw new SlipstreamError(
        'model.unsupported',
        `${tensor.file}: ${name} is stored as ${tensor.type}; F32, F16 and BF16 weights can be read.`,
      );
    }
  }
}

function* expectedTensors(a: Architecture): Generator<[name: string, shape: number[]]> {
  const attention = a.heads * a.headDim;
  const keyValue = a.kvHeads * a.headDim;
  yield ['model.embed_tokens.weight', [a.vocabSize, a.hiddenSize]];
  yield ['model.norm.weight', [a.hiddenSize]];
  if (!a.tiedEmbeddings) yield ['lm_head.weight', [a.vocabSize, a.hiddenSize]];
  for (let layer = 0; layer < a.layers; layer++) {
    const prefix = `model.layers.${layer}`;
    yield [`${prefix}.input_layernorm.weight`, [a.hiddenSize]];
    yield [`${prefix}.post_attention_layernorm.weight`, [a.hiddenSize]];
    yield* projection(`${prefix}.self_attn.q_proj`, attention, a.hiddenSize, a.bias.qkv);
    yield* projection(`${prefix}.self_attn.k_proj`, keyValue, a.hiddenSize, a.bias.qkv);
    yield* projection(`${prefix}.self_attn.v_proj`, keyValue, a.hiddenSize, a.bias.qkv);
    yield* projection(`${prefix}.self_attn.o_proj`, a.hiddenSize, attention, a.bias.output);
    if (a.qkNorm) {
      yield [`${prefix}.self_attn.q_norm.weight`, [a.headDim]];
      yield [`${prefix}.self_attn.k_norm.weight`, [a.headDim]];
    }
    yield* projection(`${prefix}.mlp.gate_proj`, a.intermediateSize, a.hiddenSize, a.bias.mlp);
    yield* projection(`${prefix}.mlp.up_proj`, a.intermediateSize, a.hiddenSize, a.bias.mlp);
    yield* projection(`${prefix}.mlp.down_proj`, a.hiddenSize, a.intermediateSize, a.bias.mlp);
  }
}

function* projection(
  name: string,
  outputs: number,
  inputs: number,
  bias: boolean,
): Generator<[name: string, shape: number[]]> {
  yield [`${name}.weight`, [outputs, inputs]];
  if (bias) yield [`${name}.bias`, [outputs]];
}

/** generation_config.json wins over config.json, as in transformers. */
async function eosTokenIds(dir: string, config: ConfigReader): Promise<number[]> {
  const file = join(dir, 'generation_config.json');
  const generation = (await exists(file)) ? await ConfigReader.read(file) : config;
  const source = generation.raw('eos_token_id') === undefined ? config : generation;
  const ids = [source.raw('eos_token_id') ?? []].flat();
  if (!ids.every((id) => Number.isSafeInteger(id))) {
    throw new SlipstreamError(
      'model.corrupt',
      `${source.file}: "eos_token_id" is not a token id or a list of them.`,
    );
  }
  return ids as number[];
}

export function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
