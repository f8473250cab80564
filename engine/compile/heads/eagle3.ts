import type { Architecture } from '../architecture.ts';
import type { ConfigReader } from '../config.ts';
import { refuseUnevenHeads } from '../layerShape.ts';
import { readTargetIds } from './draftVocabulary.ts';
import { checkFits } from './fitsTarget.ts';
import type { Eagle3Head, TokenTable } from './head.ts';
import type { HeadFiles } from './headFiles.ts';
import { HEAD_LAYER, parseHeadLayer, takeLayer } from './headLayer.ts';
import type { HeadTensors } from './headTensors.ts';
import { spellAlike } from './spelling.ts';
import { parseTaps } from './tapIds.ts';

/**
 * EAGLE-3 as SafeAILab (eagle/model/cnets.py), SpecForge, speculators and AngelSlim write it, with the norms of EAGLE 3.1.
 *
 * @throws SlipstreamError model.corrupt, model.unsupported
 */
export async function readEagle3(
  { dir, name, config, tensors: stored, files }: HeadFiles,
  target: Architecture,
): Promise<Eagle3Head> {
  const tensors = spellAlike(dir, stored);
  const layerConfig = config.object('transformer_layer_config') ?? config;
  const layer = parseHeadLayer(dir, layerConfig, tensors);
  const { hiddenSize } = layer;
  const vocabSize = layerConfig.size('vocab_size');
  const targetSizes = { hiddenSize: config.size('target_hidden_size', hiddenSize), vocabSize };
  const draftVocabSize = config.size('draft_vocab_size', vocabSize);
  const taps = parseTaps(dir, config, target);
  const head: Omit<Eagle3Head, 'targetIds'> = {
    kind: 'eagle3',
    dir,
    name,
    files,
    taps,
    layer,
    weights: takeLayer(tensors, HEAD_LAYER, layer, 2 * hiddenSize),
    projection: {
      linear: tensors.dense('fc', hiddenSize, taps.length * targetSizes.hiddenSize, tensors.has('fc.bias')),
      norm: takeProjectionNorm(config, tensors, taps.length, targetSizes.hiddenSize),
    },
    embeddingNorm: tensors.take(`${HEAD_LAYER}.input_layernorm.weight`, [hiddenSize]),
    featureNorm: tensors.take(`${HEAD_LAYER}.hidden_norm.weight`, [hiddenSize]),
    residual: config.boolean('norm_before_residual', false) ? 'normed' : 'feature',
    embedding: takeEmbedding(tensors, hiddenSize, targetSizes),
    outputNorm: tensors.take('norm.weight', [hiddenSize]),
    output: takeOutput(tensors, draftVocabSize, hiddenSize, targetSizes),
    recycles: config.boolean('norm_output', false) ? 'normed' : 'residual',
    draftVocabSize,
  };
  const targetIds = await readTargetIds(dir, tensors, draftVocabSize, vocabSize);
  refuseUnevenHeads(layer, layerConfig);
  checkFits(config.file, 'hidden size', targetSizes.hiddenSize, target.hiddenSize);
  checkFits(layerConfig.file, 'vocabulary', vocabSize, target.vocabSize);
  return { ...head, targetIds };
}

/** What config.json says of the model that the head was trained for. */
type TargetSizes = Pick<Architecture, 'hiddenSize' | 'vocabSize'>;

/** A head of the target's width may leave out its embedding, which is the target's. */
function takeEmbedding(tensors: HeadTensors, hiddenSize: number, target: TargetSizes): TokenTable {
  if (!tensors.has('embed_tokens.weight') && hiddenSize === target.hiddenSize) return { from: 'target' };
  return { from: 'head', weight: tensors.take('embed_tokens.weight', [target.vocabSize, hiddenSize]) };
}

/** Likewise its output projection, if it drafts the target's whole vocabulary. */
function takeOutput(
  tensors: HeadTensors,
  draftVocabSize: number,
  hiddenSize: number,
  target: TargetSizes,
): TokenTable {
  const sameSizes = draftVocabSize === target.vocabSize && hiddenSize === target.hiddenSize;
  if (!tensors.has('lm_head.weight') && sameSizes) return { from: 'target' };
  return { from: 'head', weight: tensors.take('lm_head.weight', [draftVocabSize, hiddenSize]) };
}

function takeProjectionNorm(
  config: ConfigReader,
  tensors: HeadTensors,
  taps: number,
  targetHiddenSize: number,
): Eagle3Head['projection']['norm'] {
  const over = {
    // NVIDIA's heads have it in "eagle_config".
    all: [config, config.object('eagle_config')].some((part) => part?.boolean('norm_before_fc', false)),
    each: config.boolean('fc_norm', false),
  };
  if (over.all && over.each) throw config.unsupported('"norm_before_fc" and "fc_norm" exclude each other');
  if (over.all) {
    return { over: 'all', weight: tensors.take('input_norm.weight', [taps * targetHiddenSize]) };
  }
  if (!over.each) return { over: 'none' };
  const weights = Array.from({ length: taps }, (_, i) =>
    tensors.take(`fc_norm.${i}.weight`, [targetHiddenSize]),
  );
  return { over: 'each', weights };
}
