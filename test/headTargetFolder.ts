/** `headTarget` as a checkpoint of random weights: for heads that are run beside it, and for those that are part of it. */
import { type HeadFolder, type HeadWeights, headTarget, modelLayerWeights } from './headFolder.ts';

const { vocabSize, hiddenSize } = headTarget;

const targetWeights = (layers: number): HeadWeights =>
  Object.assign(
    {
      'model.embed_tokens.weight': [vocabSize, hiddenSize],
      'model.norm.weight': [hiddenSize],
      'lm_head.weight': [vocabSize, hiddenSize],
    },
    ...Array.from({ length: layers }, (_, layer) => modelLayerWeights(`model.layers.${layer}`)),
  );

export const targetFolder: HeadFolder = targetOf(headTarget.layers);

/** The same checkpoint with another depth. */
export function targetOf(layers: number): HeadFolder {
  return { config: targetConfig({ hidden_act: 'silu' }, layers), weights: targetWeights(layers) };
}

/** The checkpoint with a head among its own layers. */
export function withTarget({ config, weights }: HeadFolder): HeadFolder {
  return { config: targetConfig(config), weights: { ...targetWeights(headTarget.layers), ...weights } };
}

function targetConfig(config: HeadFolder['config'], layers = headTarget.layers): HeadFolder['config'] {
  const { heads, kvHeads, headDim, intermediateSize } = headTarget;
  return {
    ...config,
    model_type: headTarget.family,
    num_hidden_layers: layers,
    intermediate_size: intermediateSize,
    num_attention_heads: heads,
    num_key_value_heads: kvHeads,
    head_dim: headDim,
    rms_norm_eps: headTarget.normEpsilon,
    rope_theta: headTarget.ropeTheta,
    max_position_embeddings: headTarget.contextLength,
    vocab_size: vocabSize,
    hidden_size: hiddenSize,
  };
}
