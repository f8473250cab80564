import assert from 'node:assert/strict';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import type { Architecture } from '../../../../engine/compile/architecture.ts';
import type {
  Eagle3Head,
  FusingHead,
  Head,
  HeadKind,
  MedusaHead,
} from '../../../../engine/compile/heads/head.ts';
import { findHeadKind, openHead } from '../../../../engine/compile/heads/openHead.ts';
import { readFloats } from '../../../../engine/compile/storedTensor.ts';
import { type ErrorCode, SlipstreamError } from '../../../../engine/errors.ts';
import { goldenDir } from '../../../golden.ts';
import {
  deepSeekFolder,
  eagle3Folder,
  eagleFolder,
  type HeadFolder,
  headTarget,
  isMask,
  layerConfig,
  layerWeights,
  medusaFolder,
  mimoFolder,
  writeHead,
} from '../../../headFolder.ts';
import { temporaryFolder } from '../../../temporaryFolder.ts';

const folder = temporaryFolder();
let written = 0;
const newFolder = () => join(folder, `${written++}`);
const write = (head: HeadFolder) => writeHead(newFolder(), head);

interface HeadsByKind {
  eagle: FusingHead;
  mtp: FusingHead;
  eagle3: Eagle3Head;
  medusa: MedusaHead;
}

async function open<Kind extends HeadKind>(kind: Kind, head: HeadFolder, target = headTarget) {
  const opened: Head = await openHead(write(head), target);
  assert.equal(opened.kind, kind);
  return opened as HeadsByKind[Kind];
}

async function assertRefused(
  head: HeadFolder,
  code: ErrorCode,
  words: RegExp,
  { target = headTarget, expected }: { target?: Architecture; expected?: readonly HeadKind[] } = {},
): Promise<void> {
  const dir = write(head);
  await assert.rejects(openHead(dir, target, expected), (error) => {
    assert.ok(error instanceof SlipstreamError, (error as Error).stack);
    assert.equal(error.code, code, error.message);
    assert.ok(error.message.includes(dir), `${error.message} does not name ${dir}`);
    assert.match(error.message, words);
    return true;
  });
}

/** The same head with tensors under other names; undefined leaves one out. */
function renamed(head: HeadFolder, rename: (name: string) => string | undefined): HeadFolder {
  const weights = Object.entries(head.weights).flatMap(([name, weight]) => {
    const other = rename(name);
    return other === undefined ? [] : [[other, weight]];
  });
  return { ...head, weights: Object.fromEntries(weights) };
}

const without = (head: HeadFolder, pattern: RegExp) =>
  renamed(head, (name) => (pattern.test(name) ? undefined : name));
const withConfig = (head: HeadFolder, config: Record<string, unknown>): HeadFolder => ({
  ...head,
  config: { ...head.config, ...config },
});
const withWeights = (head: HeadFolder, weights: HeadFolder['weights']): HeadFolder => ({
  ...head,
  weights: { ...head.weights, ...weights },
});

test('EAGLE-1 as SafeAILab publishes it', async () => {
  const head = await open('eagle', eagleFolder);
  assert.deepEqual(head.taps, [8]);
  assert.equal(head.targetNorm, 'applied');
  assert.equal(head.fusion.order, 'embeddingFirst');
  assert.equal(head.fusion.linear.bias?.name, 'fc.bias');
  assert.deepEqual([head.fusion.embeddingNorm, head.fusion.featureNorm], [undefined, undefined]);
  assert.deepEqual([head.inputNorm, head.outputNorm, head.recycles], [undefined, undefined, 'residual']);
  assert.deepEqual([head.embedding.from, head.output.from], ['head', 'target']);
  assert.equal(head.weights.down.weight.name, 'layers.0.mlp.down_proj.weight');
  assert.deepEqual(head.layer, {
    hiddenSize: 16,
    intermediateSize: 24,
    heads: 2,
    kvHeads: 1,
    headDim: 8,
    normEpsilon: 1e-5,
    // The target's is 1e6: a head whose config.json leaves it out was trained with the default of its code.
    ropeTheta: 10000,
    ropeScaling: { type: 'none' },
    contextLength: 128,
    bias: { qkv: false, output: false, mlp: false },
    qkNorm: false,
  });
});

test('EAGLE-1 of a Qwen2 model has biases in its attention, and may leave out its embedding and fc.bias', async () => {
  const biases = {
    'layers.0.self_attn.q_proj.bias': [16],
    'layers.0.self_attn.k_proj.bias': [8],
    'layers.0.self_attn.v_proj.bias': [8],
  };
  const head = await open('eagle', without(withWeights(eagleFolder, biases), /^embed|^fc\.bias/));
  assert.deepEqual(head.layer.bias, { qkv: true, output: false, mlp: false });
  assert.equal(head.weights.k.bias?.name, 'layers.0.self_attn.k_proj.bias');
  assert.equal(head.embedding.from, 'target');
  assert.equal(head.fusion.linear.bias, undefined);
});

/** speculators' spelling of EAGLE-1. */
const speculatorsEagle: HeadFolder = {
  config: {
    speculators_model_type: 'eagle',
    transformer_layer_config: layerConfig,
    layernorms: false,
    fusion_bias: true,
  },
  weights: renamed(eagleFolder, (name) =>
    name.replace(/^layers\.0\./, 'transformer.').replace(/^fc\./, 'fusion_fc.'),
  ).weights,
};

test('EAGLE-1 as speculators writes it, with three norms or none', async () => {
  const plain = await open('eagle', speculatorsEagle);
  assert.equal(plain.weights.q.weight.name, 'transformer.self_attn.q_proj.weight');
  assert.equal(plain.fusion.linear.bias?.name, 'fusion_fc.bias');
  assert.deepEqual([plain.inputNorm, plain.outputNorm, plain.recycles], [undefined, undefined, 'residual']);

  const normed = await open(
    'eagle',
    withWeights(speculatorsEagle, {
      'embedding_layernorm.weight': [16],
      'transformer.input_layernorm.weight': [16],
      'pre_lm_head_layernorm.weight': [16],
    }),
  );
  assert.equal(normed.fusion.embeddingNorm?.name, 'embedding_layernorm.weight');
  assert.equal(normed.inputNorm?.name, 'transformer.input_layernorm.weight');
  assert.equal(normed.outputNorm?.name, 'pre_lm_head_layernorm.weight');
  assert.equal(normed.recycles, 'normed');
});

test('EAGLE-3 as SafeAILab publishes it', async () => {
  const head = await open('eagle3', eagle3Folder);
  assert.deepEqual(head.taps, [2, 4, 5]);
  assert.deepEqual(head.projection.norm, { over: 'none' });
  assert.deepEqual([head.residual, head.recycles], ['feature', 'residual']);
  assert.equal(head.embeddingNorm.name, 'midlayer.input_layernorm.weight');
  assert.equal(head.featureNorm.name, 'midlayer.hidden_norm.weight');
  assert.deepEqual(head.weights.q.weight.shape, [16, 32]);
  assert.deepEqual([head.embedding.from, head.output.from], ['target', 'head']);
  assert.equal(head.draftVocabSize, 20);
  assert.deepEqual(
    head.targetIds,
    Int32Array.from({ length: 20 }, (_, i) => 2 * i),
  );
});

test('a head for the whole vocabulary needs no map and no projection of its own', async () => {
  const head = await open(
    'eagle3',
    without(withConfig(eagle3Folder, { draft_vocab_size: null }), /^(d2t|t2d|lm_head)/),
  );
  assert.deepEqual([head.draftVocabSize, head.targetIds, head.output.from], [50, undefined, 'target']);
});

test('an EAGLE-3 head may be narrower than the model', async () => {
  const weights = { 'fc.weight': [16, 3 * 40], 'embed_tokens.weight': [50, 16] };
  const narrow = withWeights(withConfig(eagle3Folder, { target_hidden_size: 40 }), weights);
  const target = { ...headTarget, hiddenSize: 40 };
  const head = await open('eagle3', narrow, target);
  assert.deepEqual([head.layer.hiddenSize, head.embedding.from], [16, 'head']);
  await assertRefused(without(narrow, /^embed/), 'model.corrupt', /lacks the tensor embed_tokens/, {
    target,
  });
});

/** speculators' spelling of EAGLE-3. */
const speculatorsEagle3: HeadFolder = {
  config: {
    speculators_model_type: 'eagle3',
    architectures: ['Eagle3Speculator'],
    transformer_layer_config: layerConfig,
    draft_vocab_size: 20,
    norm_before_residual: true,
    target_hidden_size: null,
    eagle_aux_hidden_state_layer_ids: [2, 5, 7],
    speculators_config: { algorithm: 'eagle3' },
  },
  weights: renamed(eagle3Folder, (name) => name.replace(/^midlayer\./, 'layers.0.')).weights,
};

test('EAGLE-3 as speculators writes it', async () => {
  const head = await open('eagle3', speculatorsEagle3);
  assert.deepEqual(head.taps, [2, 5, 7]);
  assert.deepEqual([head.residual, head.recycles], ['normed', 'residual']);
  assert.equal(head.weights.gate.weight.name, 'layers.0.mlp.gate_proj.weight');
});

test('EAGLE 3.1 norms what it projects, and recycles what it normed', async () => {
  const all = withConfig(speculatorsEagle3, { norm_before_fc: true, norm_output: true });
  const one = await open('eagle3', withWeights(all, { 'input_norm.weight': [48] }));
  assert.ok(one.projection.norm.over === 'all');
  assert.equal(one.projection.norm.weight.name, 'input_norm.weight');
  assert.equal(one.recycles, 'normed');

  const weights = { 'fc_norm.0.weight': [16], 'fc_norm.1.weight': [16], 'fc_norm.2.weight': [16] };
  const each = await open('eagle3', withWeights(withConfig(eagle3Folder, { fc_norm: true }), weights));
  assert.ok(each.projection.norm.over === 'each');
  assert.deepEqual(
    each.projection.norm.weights.map(({ name }) => name),
    Object.keys(weights),
  );

  const nested = withConfig(eagle3Folder, { eagle_config: { norm_before_fc: true } });
  await assertRefused(nested, 'model.corrupt', /lacks the tensor input_norm\.weight/);
  await assertRefused(withConfig(all, { fc_norm: true }), 'model.unsupported', /exclude each other/);
});

test('EAGLE-3 of a Qwen3 model has normed queries and keys', async () => {
  const norms = { 'midlayer.self_attn.q_norm.weight': [8], 'midlayer.self_attn.k_norm.weight': [8] };
  const head = await open('eagle3', withWeights(eagle3Folder, norms));
  assert.equal(head.layer.qkNorm, true);
  assert.equal(head.weights.qNorm?.name, 'midlayer.self_attn.q_norm.weight');
  assert.equal(head.weights.kNorm?.name, 'midlayer.self_attn.k_norm.weight');
  const half = without(withWeights(eagle3Folder, norms), /k_norm/);
  await assertRefused(half, 'model.corrupt', /lacks the tensor layers\.0\.self_attn\.k_norm/);
});

test('a prefix of the whole model is no part of the names', async () => {
  const head = await open(
    'eagle3',
    renamed(eagle3Folder, (name) => `model.${name}`),
  );
  assert.equal(head.outputNorm.name, 'model.norm.weight');
  const twice = withWeights(eagle3Folder, { 'model.norm.weight': [16] });
  await assertRefused(twice, 'model.corrupt', /norm\.weight and model\.norm\.weight/);
});

test('Medusa heads, alone or in the file of a model', async () => {
  const head = await open('medusa', medusaFolder);
  assert.deepEqual(head.taps, [8]);
  assert.equal(head.heads.length, 2);
  assert.equal(head.heads[1].blocks[0].bias?.name, '1.0.linear.bias');
  assert.deepEqual(head.heads[1].output.weight.shape, [50, 16]);

  const inModel = renamed({ ...medusaFolder, file: 'model.safetensors' }, (name) => `medusa_head.${name}`);
  const other = await open('medusa', withWeights(inModel, { 'model.embed_tokens.weight': [50, 16] }));
  assert.equal(other.heads[0].output.weight.name, 'medusa_head.0.1.weight');
  assert.equal(other.heads.length, 2);
});

test('Medusa heads of several blocks, and fewer heads than the file holds', async () => {
  const deep = withConfig(
    withWeights(medusaFolder, {
      '0.1.linear.weight': [16, 16],
      '0.1.linear.bias': [16],
      '0.2.weight': [50, 16],
    }),
    { medusa_num_heads: 1, medusa_num_layers: 2 },
  );
  const { heads } = await open('medusa', without(deep, /^0\.1\.weight/));
  assert.deepEqual(
    heads.map(({ blocks, output }) => [blocks.length, output.weight.name]),
    [[2, '0.2.weight']],
  );
});

function fusionOf({ fusion, inputNorm, outputNorm }: FusingHead) {
  return {
    order: fusion.order,
    linear: fusion.linear.weight.name,
    embeddingNorm: fusion.embeddingNorm?.name,
    featureNorm: fusion.featureNorm?.name,
    inputNorm: inputNorm?.name,
    outputNorm: outputNorm?.name,
  };
}

test("MiMo's multi-token-prediction layer", async () => {
  const head = await open('mtp', mimoFolder);
  const prefix = 'model.mtp_layers.0';
  assert.deepEqual(fusionOf(head), {
    order: 'featureFirst',
    linear: `${prefix}.input_proj.weight`,
    embeddingNorm: `${prefix}.token_layernorm.weight`,
    featureNorm: `${prefix}.hidden_layernorm.weight`,
    inputNorm: `${prefix}.input_layernorm.weight`,
    outputNorm: `${prefix}.final_layernorm.weight`,
  });
  assert.deepEqual([head.taps, head.targetNorm, head.recycles], [[8], 'none', 'normed']);
  assert.deepEqual([head.embedding.from, head.output.from], ['target', 'target']);
  assert.equal(head.weights.qNorm?.name, `${prefix}.self_attn.q_norm.weight`);
});

test('a multi-token-prediction layer as DeepSeek lays it out', async () => {
  const head = await open('mtp', deepSeekFolder);
  const prefix = 'model.layers.8';
  assert.deepEqual(fusionOf(head), {
    order: 'embeddingFirst',
    linear: `${prefix}.eh_proj.weight`,
    embeddingNorm: `${prefix}.enorm.weight`,
    featureNorm: `${prefix}.hnorm.weight`,
    inputNorm: `${prefix}.input_layernorm.weight`,
    outputNorm: `${prefix}.shared_head.norm.weight`,
  });
  assert.deepEqual([head.taps, head.targetNorm, head.recycles], [[8], 'applied', 'normed']);
  assert.deepEqual([head.embedding.from, head.output.from], ['head', 'head']);

  const shared = await open('mtp', without(deepSeekFolder, /embed_tokens|shared_head\.head/));
  assert.deepEqual([shared.embedding.from, shared.output.from], ['target', 'target']);
});

test('a multi-token-prediction layer that cannot be computed is refused', async () => {
  const latent = withWeights(deepSeekFolder, {
    'model.layers.8.self_attn.kv_a_proj_with_mqa.weight': [4, 16],
  });
  await assertRefused(latent, 'model.unsupported', /latent attention/);
  const experts = withWeights(deepSeekFolder, { 'model.layers.8.mlp.gate.weight': [4, 16] });
  await assertRefused(experts, 'model.unsupported', /mixture of experts/);
  const target = { ...headTarget, layers: 7 };
  await assertRefused(deepSeekFolder, 'model.corrupt', /after its 7 layers/, { target });
});

test('a head for another model is refused', async () => {
  const wide = { target: { ...headTarget, hiddenSize: 32 } };
  const rich = { target: { ...headTarget, vocabSize: 64 } };
  const flat = { target: { ...headTarget, layers: 4 } };
  for (const head of [eagleFolder, eagle3Folder, speculatorsEagle, speculatorsEagle3, medusaFolder]) {
    await assertRefused(head, 'model.unsupported', /hidden size of 16; this model's is 32/, wide);
    await assertRefused(head, 'model.unsupported', /vocabulary of 50; this model's is 64/, rich);
  }
  await assertRefused(speculatorsEagle3, 'model.unsupported', /layers 2, 5, 7, and this model has 4/, flat);
});

test('every tensor of every head is missed, and its shape is checked', async () => {
  const optional = /^(embed_tokens|fc\.bias|t2d|\d+\.\d+\.linear\.bias)|embed_tokens|shared_head\.head/;
  // Without it the folder is one of another kind, or of none.
  const telling = /^fc\.weight|hidden_norm|0\.0\.linear\.weight|input_proj|eh_proj/;
  const heads = [eagleFolder, eagle3Folder, medusaFolder, mimoFolder, deepSeekFolder];
  for (const head of heads) {
    for (const [name, weight] of Object.entries(head.weights)) {
      if (name === 'model.embed_tokens.weight') continue;
      const lacking = renamed(head, (other) => (other === name ? undefined : other));
      if (!optional.test(name) && !telling.test(name)) {
        const last = name.split('.').at(-2) ?? name;
        await assertRefused(
          lacking,
          'model.corrupt',
          new RegExp(`lacks the tensor .*${last}|lacks the tensor ${name}`),
        );
      }
      if (weight instanceof BigInt64Array || isMask(weight)) continue;
      const grown = withWeights(head, { [name]: weight.with(-1, weight.at(-1)! + 1) });
      await assert.rejects(openHead(write(grown), headTarget), {
        name: 'SlipstreamError',
        message: /of shape \[|a hidden size of 17/,
      });
    }
  }
});

/** Fields of config.json that size tensors of the head, and what a wrong one may say. */
const sizeFields = [
  'hidden_size',
  'intermediate_size',
  'num_attention_heads',
  'num_key_value_heads',
  'head_dim',
  'vocab_size',
  'draft_vocab_size',
  'target_hidden_size',
] as const;

test('a config.json that is wrong about a size is told by file, tensor and both shapes', async () => {
  const embedding = { 'embed_tokens.weight': [50, 16] };
  const heads: readonly [HeadFolder, readonly string[]][] = [
    [eagleFolder, sizeFields.slice(0, 6)],
    [withWeights(eagle3Folder, embedding), sizeFields],
    // The mask is as long as the vocabulary, too.
    [eagle3Folder, ['vocab_size']],
    [speculatorsEagle, sizeFields.slice(0, 6)],
    [withWeights(speculatorsEagle3, embedding), sizeFields],
  ];
  const lies = fc.integer({ min: 1, max: 100 });
  const inHead = fc
    .constantFrom(...heads)
    .chain(([head, fields]) =>
      fc.record({ head: fc.constant(head), field: fc.constantFrom(...fields), value: lies }),
    );
  await fc.assert(
    fc.asyncProperty(inHead, async ({ head, field, value }) => {
      const nested = head.config.transformer_layer_config as Record<string, unknown> | undefined;
      const inLayer = nested !== undefined && field in nested;
      const truth = (inLayer ? nested : head.config)[field] ?? layerConfig.hidden_size;
      fc.pre(value !== truth);
      const lying = inLayer
        ? withConfig(head, { transformer_layer_config: { ...nested, [field]: value } })
        : withConfig(head, { [field]: value });
      const words = /model\.safetensors holds \S+ of shape \[[\d,]+\] where config\.json needs \[[\d,]+\]/;
      await assertRefused(lying, 'model.corrupt', words);
    }),
    { numRuns: 200 },
  );
});

test('a config.json that leaves out the width of heads and is wrong about their number', async () => {
  const { head_dim: _, ...config } = layerConfig;
  for (const num_attention_heads of [1, 3, 4, 5, 8, 16, 32]) {
    const lying = { ...eagleFolder, config: { ...config, num_attention_heads } };
    await assertRefused(
      lying,
      'model.corrupt',
      /holds \S+_proj\.weight of shape \[\d+,16\] where config\.json/,
    );
  }
});

test('sizes that agree with the tensors and cannot be computed with are refused', async () => {
  const config = { ...layerConfig, num_attention_heads: 3, num_key_value_heads: 2 };
  const uneven = withWeights(
    { ...eagleFolder, config },
    {
      'layers.0.self_attn.q_proj.weight': [24, 16],
      'layers.0.self_attn.k_proj.weight': [16, 16],
      'layers.0.self_attn.v_proj.weight': [16, 16],
      'layers.0.self_attn.o_proj.weight': [16, 24],
    },
  );
  await assertRefused(uneven, 'model.unsupported', /3 attention heads cannot share 2/);
});

test('a config.json that is wrong about the number of Medusa heads or blocks', async () => {
  const said = (config: Record<string, unknown>, words: RegExp) =>
    assertRefused(withConfig(medusaFolder, config), 'model.corrupt', words);
  const file = 'medusa_lm_head\\.safetensors';
  await said({ medusa_num_heads: 5 }, new RegExp(`says 5 in "medusa_num_heads", and .*${file} .* it has 2`));
  await said(
    { medusa_num_layers: 2 },
    new RegExp(`says 2 in .*${file} lacks the tensor 0\\.1\\.linear.*has 1`),
  );
  const deep = withWeights(medusaFolder, { '0.1.linear.weight': [16, 16], '0.2.weight': [50, 16] });
  await assertRefused(
    deep,
    'model.corrupt',
    /says 1 in "medusa_num_layers".* has 2, the last one 0\.1\.linear/,
  );
});

test('a head whose fusion or number of taps is another is refused', async () => {
  const two = withConfig(speculatorsEagle3, { eagle_aux_hidden_state_layer_ids: [2, 5] });
  await assertRefused(two, 'model.corrupt', /fc\.weight of shape \[16,48\] where .* needs \[16,32\]/);
  const list = withConfig(eagle3Folder, { eagle_config: { eagle_aux_hidden_state_layer_ids: '2,5' } });
  await assertRefused(list, 'model.corrupt', /no list of layers/);
  const blind = withConfig(eagle3Folder, { eagle_config: { use_aux_hidden_state: false } });
  await assertRefused(blind, 'model.unsupported', /use_aux_hidden_state/);
});

test('what a graph cannot express is refused', async () => {
  const layers = withWeights(eagle3Folder, layerWeights('layers.1', 16));
  await assertRefused(layers, 'model.unsupported', /several layers/);
  for (const folder of [eagleFolder, eagle3Folder]) {
    const two = withConfig(folder, { num_hidden_layers: 2 });
    await assertRefused(two, 'model.unsupported', /several layers \("num_hidden_layers" is 2\)/);
    const none = withConfig(folder, { num_hidden_layers: 0 });
    await assertRefused(none, 'model.corrupt', /"num_hidden_layers" is 0/);
  }
  await assertRefused(withConfig(eagleFolder, { hidden_act: 'gelu' }), 'model.unsupported', /gelu/);
  const sliding = withConfig(eagleFolder, { layer_types: ['sliding_attention'] });
  await assertRefused(sliding, 'model.unsupported', /sliding-window/);
  const scaled = withConfig(eagle3Folder, { rope_scaling: { type: 'dynamic', factor: 2 } });
  await assertRefused(scaled, 'model.unsupported', /dynamic/);
  const other = withConfig(speculatorsEagle3, { speculators_model_type: 'dflash' });
  await assertRefused(other, 'model.unsupported', /dflash; eagle and eagle3 are supported/);
});

test('a head for another algorithm is refused with the name of the right one', async () => {
  const eagle = { expected: ['eagle'] } as const;
  await assertRefused(eagle3Folder, 'usage', /holds an EAGLE-3 head, not an EAGLE head: .* EAGLE3 \(/, eagle);
  await assertRefused(medusaFolder, 'usage', /holds Medusa heads, not an EAGLE head: .* MEDUSA \(/, eagle);
  await assertRefused(eagleFolder, 'usage', /not an EAGLE-3 head or Medusa heads: .* EAGLE or EAGLE2 \(/, {
    expected: ['eagle3', 'medusa'],
  });
  assert.equal((await openHead(write(eagleFolder), headTarget, ['eagle'])).kind, 'eagle');
});

test('a folder without a head is told apart', async () => {
  const model = await openHead(goldenDir('llama'), headTarget).catch((error) => error);
  assert.match(model.message, /holds a complete model, not .* STANDALONE \(/);
  assert.equal(await findHeadKind(goldenDir('llama')), undefined);
  await assertRefused(
    { config: {}, weights: { 'adapter.weight': [2, 2] } },
    'model.unsupported',
    /something else/,
  );

  const empty = newFolder();
  mkdirSync(empty);
  await assert.rejects(openHead(empty, headTarget), { code: 'model.notFound', message: /no config\.json/ });
  writeFileSync(join(empty, 'config.json'), '{}');
  await assert.rejects(openHead(empty, headTarget), {
    code: 'model.notFound',
    message: /medusa_lm_head\.pt/,
  });
  await assert.rejects(openHead(join(empty, 'none'), headTarget), { code: 'model.notFound' });
});

test('the kind is known without a model', async () => {
  const kinds: [HeadFolder, HeadKind][] = [
    [eagleFolder, 'eagle'],
    [eagle3Folder, 'eagle3'],
    [medusaFolder, 'medusa'],
    [mimoFolder, 'mtp'],
    [deepSeekFolder, 'mtp'],
  ];
  for (const [head, kind] of kinds) assert.equal(await findHeadKind(write(head)), kind);
});

const trained = fileURLToPath(new URL('../../../fixtures/golden/heads/eagle3_trained', import.meta.url));
const trainedFor: Architecture = { ...headTarget, vocabSize: 512, hiddenSize: 64 };

test('a trained head is the same from a PyTorch file and from safetensors', async () => {
  const pickled = newFolder();
  mkdirSync(pickled);
  for (const file of ['config.json', 'pytorch_model.bin']) cpSync(join(trained, file), join(pickled, file));
  const heads = await Promise.all([trained, pickled].map((dir) => openHead(dir, trainedFor)));
  const [safe, torch] = heads as Eagle3Head[];
  assert.deepEqual(torch.files, [join(pickled, 'config.json'), join(pickled, 'pytorch_model.bin')]);
  assert.deepEqual(torch.targetIds, safe.targetIds);
  assert.equal(safe.targetIds?.length, 384);
  for (const role of ['q', 'k', 'v', 'o', 'gate', 'up', 'down'] as const) {
    const [a, b] = [safe, torch].map(({ weights }) => weights[role].weight);
    assert.deepEqual(await readFloats(a), await readFloats(b));
  }
});

test('a head in several files is read from all of them', async () => {
  const dir = newFolder();
  const half = ([name]: [string, unknown]) => name.includes('mlp');
  const entries = Object.entries(eagleFolder.weights);
  const parts = [entries.filter(half), entries.filter((entry) => !half(entry))];
  for (const [i, part] of parts.entries()) {
    writeHead(dir, { ...eagleFolder, weights: Object.fromEntries(part), file: `part-${i}.safetensors` });
  }
  const weightMap = parts.flatMap((part, i) => part.map(([name]) => [name, `part-${i}.safetensors`]));
  writeFileSync(
    join(dir, 'model.safetensors.index.json'),
    JSON.stringify({ weight_map: Object.fromEntries(weightMap) }),
  );
  const head = (await openHead(dir, headTarget)) as FusingHead;
  assert.equal(head.files.length, 3);
  assert.match(head.weights.up.weight.file, /part-0/);
  assert.match(head.weights.q.weight.file, /part-1/);
});

test('a config of whatever content opens or is refused', async () => {
  const fields = Object.keys({ ...speculatorsEagle3.config, ...layerConfig, eagle_config: 0, fc_norm: 0 });
  const junk = fc.oneof(fc.jsonValue(), fc.integer({ min: -1, max: 60 }), fc.boolean());
  const heads = fc.constantFrom(eagleFolder, eagle3Folder, speculatorsEagle3, medusaFolder, mimoFolder);
  await fc.assert(
    fc.asyncProperty(heads, fc.constantFrom(...fields), junk, async (head, field, value) => {
      const nested = { ...layerConfig, [field]: value };
      const whole = { [field]: value, transformer_layer_config: nested };
      for (const config of [{ [field]: value }, head === speculatorsEagle3 ? whole : {}]) {
        await openHead(write(withConfig(head, config)), headTarget).catch((error) => {
          assert.ok(error instanceof SlipstreamError, error.stack);
        });
      }
    }),
    { numRuns: 150 },
  );
});

test('a Medusa head without a number of heads in its config has those of its file', async () => {
  const { heads } = await open('medusa', { ...medusaFolder, config: {} });
  assert.equal(heads.length, 2);
  const more = withConfig(medusaFolder, { medusa_num_heads: 3 });
  await assertRefused(more, 'model.corrupt', /lacks the tensor 2\.0\.linear\.weight/);
});
