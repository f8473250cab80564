import type { Architecture } from './architecture.ts';
import type { ConfigReader } from './config.ts';
import { parseLayerSizes, refuseSlidingWindow, refuseUnevenHeads } from './layerShape.ts';

/** What sets a family of checkpoints apart, by `model_type`. A new one is an entry here. */
interface Family {
  /** Refuses what the graph cannot express, and says which projections carry a bias. */
  bias(config: ConfigReader): Architecture['bias'];
  readonly tiedByDefault: boolean;
  readonly qkNorm: boolean;
}

const qwen2: Family = {
  tiedByDefault: false,
  qkNorm: false,
  bias(config) {
    refuseSlidingWindow(config);
    return { qkv: true, output: false, mlp: false };
  },
};

const families: Readonly<Record<string, Family>> = {
  llama: {
    tiedByDefault: false,
    qkNorm: false,
    bias(config) {
      const attention = config.boolean('attention_bias', false);
      return { qkv: attention, output: attention, mlp: config.boolean('mlp_bias', false) };
    },
  },
  qwen2,
  qwen3: {
    tiedByDefault: false,
    qkNorm: true,
    bias(config) {
      refuseSlidingWindow(config);
      const attention = config.boolean('attention_bias', false);
      return { qkv: attention, output: attention, mlp: false };
    },
  },
  // The multi-token-prediction layer beside it is a head of its own: see heads/mtp.ts.
  mimo: qwen2,
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
  const sizes = parseLayerSizes(config);
  refuseUnevenHeads(sizes, config);
  return {
    ...sizes,
    family: modelType,
    vocabSize: config.size('vocab_size'),
    layers: config.size('num_hidden_layers'),
    tiedEmbeddings: config.boolean('tie_word_embeddings', family.tiedByDefault),
    bias: family.bias(config),
    qkNorm: family.qkNorm,
  };
}
