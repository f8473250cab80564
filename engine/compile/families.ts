import type { Architecture, RopeScaling } from './architecture.ts';
import type { ConfigReader } from './config.ts';

/** What sets a family of checkpoints apart, by `model_type`. A new one is an entry here. */
interface Family {
  /** Refuses what the graph cannot express, and says which projections carry a bias. */
  bias(config: ConfigReader): Architecture['bias'];
  readonly tiedByDefault: boolean;
}

const families: Readonly<Record<string, Family>> = {
  llama: {
    tiedByDefault: false,
    bias(config) {
      const attention = config.boolean('attention_bias', false);
      return { qkv: attention, output: attention, mlp: config.boolean('mlp_bias', false) };
    },
  },
  qwen2: {
    tiedByDefault: false,
    bias(config) {
      if (config.boolean('use_sliding_window', false)) {
        throw config.unsupported('sliding-window attention ("use_sliding_window") is not supported');
      }
      return { qkv: true, output: false, mlp: false };
    },
  },
};

/**
 * config.json of a checkpoint as an architecture.
 *
 * @throws SlipstreamError model.corrupt, model.unsupported
 */
export function parseArchitecture(config: ConfigReader): Architecture {
  const modelType = config.string('model_type');
  const family = Object.hasOwn(families, modelType) ? families[modelType] : undefined;
  if (!family) {
    const known = Object.keys(families).join(', ');
    throw config.unsupported(`model_type "${modelType}" is not supported (supported: ${known})`);
  }
  const activation = config.string('hidden_act', 'silu');
  if (activation !== 'silu') throw config.unsupported(`activation "${activation}" is not supported`);
  const hiddenSize = config.size('hidden_size');
  const heads = config.size('num_attention_heads');
  const architecture: Architecture = {
    family: modelType,
    vocabSize: config.size('vocab_size'),
    hiddenSize,
    intermediateSize: config.size('intermediate_size'),
    layers: config.size('num_hidden_layers'),
    heads,
    kvHeads: config.size('num_key_value_heads', heads),
    headDim: config.size('head_dim', Math.floor(hiddenSize / heads)),
    normEpsilon: config.positive('rms_norm_eps', 1e-6),
    ropeTheta:
      config.object('rope_parameters')?.positive('rope_theta') ?? config.positive('rope_theta', 10000),
    ropeScaling: parseRopeScaling(config),
    contextLength: config.size('max_position_embeddings', 2048),
    tiedEmbeddings: config.boolean('tie_word_embeddings', family.tiedByDefault),
    bias: family.bias(config),
    qkNorm: false,
  };
  checkShapes(architecture, config);
  return architecture;
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

function checkShapes({ heads, kvHeads, headDim }: Architecture, config: ConfigReader): void {
  if (heads % kvHeads !== 0) {
    throw config.unsupported(`${heads} attention heads cannot share ${kvHeads} key-value heads evenly`);
  }
  if (headDim % 2 !== 0) throw config.unsupported(`head_dim ${headDim} is odd, rotary positions need pairs`);
}
