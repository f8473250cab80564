import type { Architecture } from '../architecture.ts';
import { refuseUnevenHeads } from '../layerShape.ts';
import { checkFits } from './fitsTarget.ts';
import type { FusingHead } from './head.ts';
import type { HeadFiles } from './headFiles.ts';
import { HEAD_LAYER, parseHeadLayer, takeLayer } from './headLayer.ts';
import type { HeadTensors } from './headTensors.ts';
import { spellAlike } from './spelling.ts';

/**
 * EAGLE-1 and EAGLE-2, which differ in how they draft with the same head: SafeAILab (eagle/model/cnets1.py) and
 * speculators (models/eagle.py, whose "layernorms" adds three norms).
 *
 * @throws SlipstreamError model.corrupt, model.unsupported
 */
export function readEagle(
  { dir, name, config, tensors: stored, files }: HeadFiles,
  target: Architecture,
): FusingHead {
  const tensors = spellAlike(dir, stored);
  const layerConfig = config.object('transformer_layer_config') ?? config;
  const layer = parseHeadLayer(dir, layerConfig, tensors);
  const { hiddenSize } = layer;
  const vocabSize = layerConfig.size('vocab_size');
  const norm = (part: string) => optionalNorm(tensors, part, hiddenSize);
  const outputNorm = norm('norm.weight');
  const head: FusingHead = {
    kind: 'eagle',
    dir,
    name,
    files,
    taps: [target.layers],
    targetNorm: 'applied',
    layer,
    weights: takeLayer(tensors, HEAD_LAYER, layer, hiddenSize),
    embedding: tensors.has('embed_tokens.weight')
      ? { from: 'head', weight: tensors.take('embed_tokens.weight', [vocabSize, hiddenSize]) }
      : { from: 'target' },
    fusion: {
      order: 'embeddingFirst',
      linear: tensors.dense('fc', hiddenSize, 2 * hiddenSize, tensors.has('fc.bias')),
      embeddingNorm: norm('embed_norm.weight'),
    },
    inputNorm: norm(`${HEAD_LAYER}.input_layernorm.weight`),
    outputNorm,
    output: { from: 'target' },
    recycles: outputNorm ? 'normed' : 'residual',
  };
  refuseUnevenHeads(layer, layerConfig);
  checkFits(layerConfig.file, 'hidden size', hiddenSize, target.hiddenSize);
  checkFits(layerConfig.file, 'vocabulary', vocabSize, target.vocabSize);
  return head;
}

function optionalNorm(tensors: HeadTensors, name: string, size: number) {
  return tensors.has(name) ? tensors.take(name, [size]) : undefined;
}
