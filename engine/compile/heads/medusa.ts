import type { Architecture } from '../architecture.ts';
import type { NamedTensor } from '../storedTensor.ts';
import { checkFits } from './fitsTarget.ts';
import type { MedusaHead } from './head.ts';
import type { HeadFiles } from './headFiles.ts';
import { HeadTensors } from './headTensors.ts';

/** Version 0.1 of Medusa stores the heads alone, version 1.0 together with the model, below a prefix. */
const PREFIX = /^medusa_head\./;
const BLOCK = /^\d+\.0\.linear\.weight$/;

export function holdsMedusa(names: Iterable<string>): boolean {
  return [...names].some((name) => BLOCK.test(name.replace(PREFIX, '')));
}

/**
 * Medusa heads (FasterDecoding/Medusa, medusa/model/medusa_model.py): i.0.linear and so on are the blocks of head i, the
 * last entry its output projection.
 *
 * @throws SlipstreamError model.corrupt, model.unsupported
 */
export function readMedusa(
  { dir, name, config, tensors: stored, files }: HeadFiles,
  target: Architecture,
): MedusaHead {
  const named = [...stored].map(([full, tensor]) => [full.replace(PREFIX, ''), tensor] as const);
  const tensors = new HeadTensors(dir, new Map<string, NamedTensor>(named));
  const inFile = named.filter(([bare]) => BLOCK.test(bare)).length;
  const heads = config.size('medusa_num_heads', inFile);
  const blocks = config.size('medusa_num_layers', 1);
  checkSizes(dir, tensors, blocks, target);
  return {
    kind: 'medusa',
    dir,
    name,
    files,
    taps: [target.layers],
    heads: Array.from({ length: heads }, (_, head) => takeHead(tensors, head, blocks, target)),
  };
}

function checkSizes(dir: string, tensors: HeadTensors, blocks: number, target: Architecture): void {
  const { shape } = tensors.find(`0.${blocks}.weight`) ?? { shape: [] };
  if (shape.length !== 2) return;
  checkFits(dir, 'vocabulary', shape[0], target.vocabSize);
  checkFits(dir, 'hidden size', shape[1], target.hiddenSize);
}

function takeHead(
  tensors: HeadTensors,
  head: number,
  blocks: number,
  { vocabSize, hiddenSize }: Architecture,
) {
  return {
    blocks: Array.from({ length: blocks }, (_, i) => {
      const name = `${head}.${i}.linear`;
      return tensors.dense(name, hiddenSize, hiddenSize, tensors.has(`${name}.bias`));
    }),
    output: tensors.dense(`${head}.${blocks}`, vocabSize, hiddenSize, false),
  };
}
