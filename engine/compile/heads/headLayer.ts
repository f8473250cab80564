import type { LayerShape } from '../architecture.ts';
import type { ConfigReader } from '../config.ts';
import { unsupported } from '../fileFault.ts';
import { parseLayerSizes, refuseSlidingWindow } from '../layerShape.ts';
import type { LayerTensors } from './head.ts';
import type { HeadTensors } from './headTensors.ts';

/** Where the files of a head keep its one layer, once their names are spelled alike. */
export const HEAD_LAYER = 'layers.0';

/**
 * The shape of a head's own layer. Its config.json gives the sizes; whether projections have biases and queries and keys
 * are normed is what its files show, because the projects that train heads do not write it down alike.
 *
 * @throws SlipstreamError model.corrupt, model.unsupported
 */
export function parseHeadLayer(dir: string, config: ConfigReader, tensors: HeadTensors): LayerShape {
  refuseSlidingWindow(config);
  refuseSeveralLayers(dir, config, tensors);
  const has = (part: string) => tensors.has(`${HEAD_LAYER}.${part}`);
  return {
    ...parseLayerSizes(config),
    bias: {
      qkv: has('self_attn.q_proj.bias') || config.boolean('qkv_bias', false),
      output: has('self_attn.o_proj.bias'),
      mlp: has('mlp.gate_proj.bias'),
    },
    qkNorm: has('self_attn.q_norm.weight'),
  };
}

function refuseSeveralLayers(dir: string, config: ConfigReader, tensors: HeadTensors): void {
  const layers = config.size('num_hidden_layers', 1);
  if (layers === 1 && !tensors.has('layers.1.mlp.down_proj.weight')) return;
  throw unsupported(
    dir,
    `is a head of several layers ("num_hidden_layers" is ${layers}); heads of one layer are supported`,
  );
}

/** @param inputSize how wide what attention reads is */
export function takeLayer(
  tensors: HeadTensors,
  prefix: string,
  shape: LayerShape,
  inputSize: number,
): LayerTensors {
  const { hiddenSize, intermediateSize, headDim, bias, qkNorm } = shape;
  const queries = shape.heads * headDim;
  const keys = shape.kvHeads * headDim;
  const attention = `${prefix}.self_attn`;
  const mlp = `${prefix}.mlp`;
  return {
    q: tensors.dense(`${attention}.q_proj`, queries, inputSize, bias.qkv),
    k: tensors.dense(`${attention}.k_proj`, keys, inputSize, bias.qkv),
    v: tensors.dense(`${attention}.v_proj`, keys, inputSize, bias.qkv),
    o: tensors.dense(`${attention}.o_proj`, hiddenSize, queries, bias.output),
    qNorm: qkNorm ? tensors.take(`${attention}.q_norm.weight`, [headDim]) : undefined,
    kNorm: qkNorm ? tensors.take(`${attention}.k_norm.weight`, [headDim]) : undefined,
    postAttentionNorm: tensors.take(`${prefix}.post_attention_layernorm.weight`, [hiddenSize]),
    gate: tensors.dense(`${mlp}.gate_proj`, intermediateSize, hiddenSize, bias.mlp),
    up: tensors.dense(`${mlp}.up_proj`, intermediateSize, hiddenSize, bias.mlp),
    down: tensors.dense(`${mlp}.down_proj`, hiddenSize, intermediateSize, bias.mlp),
  };
}
