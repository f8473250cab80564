import type { Architecture } from '../architecture.ts';
import { corrupt, unsupported } from '../fileFault.ts';
import type { FusingHead } from './head.ts';
import type { HeadFiles } from './headFiles.ts';
import { takeLayer } from './headLayer.ts';
import { HeadTensors } from './headTensors.ts';

/** What a family of models calls the parts of its multi-token-prediction layer, and how it puts them together. */
interface Layout {
  /** With the number of the model's layers for "L". */
  readonly prefix: string;
  readonly embeddingNorm: string;
  readonly featureNorm: string;
  readonly fusion: string;
  readonly outputNorm: string;
  readonly order: FusingHead['fusion']['order'];
  readonly targetNorm: FusingHead['targetNorm'];
}

/** Xiaomi MiMo (XiaomiMiMo/vllm, mimo.py and mimo_mtp.py; modeling_mimo.py of the checkpoints). */
const mimo: Layout = {
  prefix: 'model.mtp_layers.0',
  embeddingNorm: 'token_layernorm',
  featureNorm: 'hidden_layernorm',
  fusion: 'input_proj',
  outputNorm: 'final_layernorm',
  order: 'featureFirst',
  targetNorm: 'none',
};

/** DeepSeek-V3, and all that took its layout (vLLM deepseek_mtp.py, SGLang deepseek_nextn.py). */
const deepSeek: Layout = {
  prefix: 'model.layers.L',
  embeddingNorm: 'enorm',
  featureNorm: 'hnorm',
  fusion: 'eh_proj',
  outputNorm: 'shared_head.norm',
  order: 'embeddingFirst',
  targetNorm: 'applied',
};

/** Whether a checkpoint has a multi-token-prediction layer beside the layers of the model. */
export function holdsMtp(names: Iterable<string>): boolean {
  return [...names].some((name) => /^model\.(mtp_layers\.\d+|layers\.\d+\.eh_proj)\./.test(name));
}

/**
 * The multi-token-prediction layer in a model's own checkpoint. Where there are several, the first drafts every token.
 * (vLLM and SGLang take the first token's embedding for zero, as they do for DeepSeek; the checkpoints' own code does not,
 * nor do we.)
 *
 * @throws SlipstreamError model.corrupt, model.unsupported
 */
export function readMtp({ dir, name, tensors: stored, files }: HeadFiles, target: Architecture): FusingHead {
  const tensors = new HeadTensors(dir, stored, 'config.json');
  const layout = [mimo, deepSeek].find(({ prefix, fusion }) =>
    tensors.has(`${withLayers(prefix, target)}.${fusion}.weight`),
  );
  if (!layout) throw corrupt(dir, `has no multi-token-prediction layer after its ${target.layers} layers`);
  const prefix = withLayers(layout.prefix, target);
  refuseUnknownLayers(dir, tensors, prefix);
  const { hiddenSize, vocabSize } = target;
  const norm = (part: string) => tensors.take(`${prefix}.${part}.weight`, [hiddenSize]);
  const table = (part: string) =>
    tensors.has(part)
      ? ({ from: 'head', weight: tensors.take(part, [vocabSize, hiddenSize]) } as const)
      : ({ from: 'target' } as const);
  return {
    kind: 'mtp',
    dir,
    name,
    files,
    taps: [target.layers],
    targetNorm: layout.targetNorm,
    layer: target,
    weights: takeLayer(tensors, prefix, target, hiddenSize),
    embedding: table(`${prefix}.embed_tokens.weight`),
    fusion: {
      order: layout.order,
      linear: tensors.dense(`${prefix}.${layout.fusion}`, hiddenSize, 2 * hiddenSize, false),
      embeddingNorm: norm(layout.embeddingNorm),
      featureNorm: norm(layout.featureNorm),
    },
    inputNorm: norm('input_layernorm'),
    outputNorm: norm(layout.outputNorm),
    output: table(`${prefix}.shared_head.head.weight`),
    recycles: 'normed',
  };
}

function withLayers(prefix: string, { layers }: Architecture): string {
  return prefix.replace('L', `${layers}`);
}

function refuseUnknownLayers(dir: string, tensors: HeadTensors, prefix: string): void {
  if (tensors.has(`${prefix}.self_attn.kv_a_proj_with_mqa.weight`)) {
    throw unsupported(
      dir,
      'has a multi-token-prediction layer with latent attention (MLA), which is not supported',
    );
  }
  if (tensors.has(`${prefix}.mlp.gate.weight`)) {
    throw unsupported(
      dir,
      'has a multi-token-prediction layer with a mixture of experts, which is not supported',
    );
  }
}
