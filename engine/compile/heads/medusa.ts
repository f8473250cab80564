import type { Architecture } from '../architecture.ts';
import type { ConfigReader } from '../config.ts';
import { corrupt } from '../fileFault.ts';
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
  const tensors = new HeadTensors(dir, new Map<string, NamedTensor>(named), 'the model');
  const inFile = named.filter(([bare]) => BLOCK.test(bare)).length;
  const heads = config.size('medusa_num_heads', inFile);
  const blocks = config.size('medusa_num_layers', 1);
  checkCounts(config, tensors, { heads, blocks });
  checkSizes(tensors, blocks, target);
  return {
    kind: 'medusa',
    dir,
    name,
    files,
    taps: [target.layers],
    heads: Array.from({ length: heads }, (_, head) => takeHead(tensors, head, blocks, target)),
  };
}

/** By the blocks' weights: one that is not there would be told as a download that is incomplete. */
function checkCounts(
  config: ConfigReader,
  tensors: HeadTensors,
  said: { heads: number; blocks: number },
): void {
  const block = (head: number, index: number) => tensors.find(`${head}.${index}.linear.weight`);
  const first = block(0, 0);
  if (!first) return;
  const blocks = countUp((index) => block(0, index));
  const heads = countUp((head) => block(head, 0));
  const refuse = (field: string, count: number, what: string) => {
    throw corrupt(config.file, `says ${count} in "${field}", and ${first.file} ${what}`);
  };
  if (said.blocks > blocks) {
    refuse('medusa_num_layers', said.blocks, `lacks the tensor 0.${blocks}.linear.weight: it has ${blocks}`);
  }
  if (said.blocks < blocks) {
    refuse('medusa_num_layers', said.blocks, `has ${blocks}, the last one ${block(0, blocks - 1)!.name}`);
  }
  if (said.heads > heads) {
    refuse('medusa_num_heads', said.heads, `lacks the tensor ${heads}.0.linear.weight: it has ${heads}`);
  }
}

function countUp(found: (index: number) => unknown): number {
  let count = 0;
  while (found(count)) count++;
  return count;
}

function checkSizes(tensors: HeadTensors, blocks: number, target: Architecture): void {
  const output = tensors.find(`0.${blocks}.weight`);
  if (output?.shape.length !== 2) return;
  checkFits(output.file, 'vocabulary', output.shape[0], target.vocabSize);
  checkFits(output.file, 'hidden size', output.shape[1], target.hiddenSize);
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
