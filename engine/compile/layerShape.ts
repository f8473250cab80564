import type { LayerShape, RopeScaling } from './architecture.ts';
import type { ConfigReader } from './config.ts';

/** What sizes the layers of a model in its config.json: all but what its tensors or its family say. */
export type LayerSizes = Omit<LayerShape, 'bias' | 'qkNorm'>;

/**
 * The sizes as they are written down; `refuseUnevenHeads` says whether they can be computed with.
 *
 * @throws SlipstreamError model.corrupt, model.unsupported
 */
export function parseLayerSizes(config: ConfigReader): LayerSizes {
  const activation = config.string('hidden_act', 'silu');
  if (activation !== 'silu') throw config.unsupported(`activation "${activation}" is not supported`);
  const hiddenSize = config.size('hidden_size');
  const heads = config.size('num_attention_heads');
  return {
    hiddenSize,
    intermediateSize: config.size('intermediate_size'),
    heads,
    kvHeads: config.size('num_key_value_heads', heads),
    headDim: config.size('head_dim', Math.max(1, Math.floor(hiddenSize / heads))),
    normEpsilon: config.positive('rms_norm_eps', 1e-6),
    ropeTheta:
      config.object('rope_parameters')?.positive('rope_theta') ?? config.positive('rope_theta', 10000),
    ropeScaling: parseRopeScaling(config),
    contextLength: config.size('max_position_embeddings', 2048),
  };
}

/** Four times the widest in use. Rotary tables have its half for each position: unlike weights, no file has to hold them. */
const WIDEST_HEAD = 1024;

/** @throws SlipstreamError model.unsupported */
export function refuseUnevenHeads({ heads, kvHeads, headDim }: LayerSizes, config: ConfigReader): void {
  if (heads % kvHeads !== 0) {
    throw config.unsupported(`${heads} attention heads cannot share ${kvHeads} key-value heads evenly`);
  }
  if (headDim % 2 !== 0) throw config.unsupported(`head_dim ${headDim} is odd, rotary positions need pairs`);
  if (headDim > WIDEST_HEAD) {
    throw config.unsupported(`head_dim ${headDim} is larger than ${WIDEST_HEAD}`);
  }
}

/** Every token sees all before it: what a sliding window would hide is not hidden here. */
export function refuseSlidingWindow(config: ConfigReader): void {
  const layerTypes = config.raw('layer_types');
  const sliding = Array.isArray(layerTypes) && layerTypes.some((type) => type !== 'full_attention');
  if (config.boolean('use_sliding_window', false) || sliding) {
    throw config.unsupported('sliding-window attention ("use_sliding_window") is not supported');
  }
}

function parseRopeScaling(config: ConfigReader): RopeScaling {
  // Checkpoints written by transformers 5 keep all that concerns rotary positions in "rope_parameters".
  const scaling = config.object('rope_parameters') ?? config.object('rope_scaling');
  if (!scaling) return { type: 'none' };
  // Older checkpoints call the field "type".
  const type = scaling.string('rope_type', scaling.string('type', 'default'));
  switch (type) {
    case 'default':
      return { type: 'none' };
    case 'linear':
      return { type, factor: scaling.positive('factor') };
    case 'llama3':
      return parseLlama3Scaling(scaling);
    default:
      throw config.unsupported(`rope_scaling of type "${type}" is not supported (supported: linear, llama3)`);
  }
}

function parseLlama3Scaling(scaling: ConfigReader): RopeScaling {
  const lowFrequencyFactor = scaling.positive('low_freq_factor');
  const highFrequencyFactor = scaling.positive('high_freq_factor');
  if (highFrequencyFactor <= lowFrequencyFactor) {
    throw scaling.unsupported('"high_freq_factor" is not above "low_freq_factor"');
  }
  return {
    type: 'llama3',
    factor: scaling.positive('factor'),
    lowFrequencyFactor,
    highFrequencyFactor,
    originalContextLength: scaling.size('original_max_position_embeddings'),
  };
}
