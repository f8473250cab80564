/** Writes Medusa heads with random weights, in the published layout. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from './random.ts';
import { type CheckpointShape, type NamedTensor, safetensors } from './randomCheckpoint.ts';

export interface MedusaShape extends Pick<CheckpointShape, 'hiddenSize' | 'vocabSize'> {
  readonly heads: number;
  readonly blocks: number;
}

export function randomMedusaTensors(shape: MedusaShape, seed: number): NamedTensor[] {
  const { hiddenSize, vocabSize, heads, blocks } = shape;
  const random = new Random(seed);
  const tensor = (name: string, dimensions: number[], spread: number): NamedTensor => {
    const size = dimensions.reduce((product, dimension) => product * dimension, 1);
    const data = Float32Array.from({ length: size }, () => spread * (2 * random.next() - 1));
    return { name, shape: dimensions, data };
  };
  return Array.from({ length: heads }, (_, head) => [
    ...Array.from({ length: blocks }, (_, block) => [
      tensor(`${head}.${block}.linear.weight`, [hiddenSize, hiddenSize], 2 / Math.sqrt(hiddenSize)),
      tensor(`${head}.${block}.linear.bias`, [hiddenSize], 0.5),
    ]),
    [tensor(`${head}.${blocks}.weight`, [vocabSize, hiddenSize], 3 / Math.sqrt(hiddenSize))],
  ]).flat(2);
}

export function writeRandomMedusa(dir: string, shape: MedusaShape, seed: number): string {
  mkdirSync(dir, { recursive: true });
  const config = { medusa_num_heads: shape.heads, medusa_num_layers: shape.blocks };
  writeFileSync(join(dir, 'config.json'), JSON.stringify(config));
  writeFileSync(join(dir, 'medusa_lm_head.safetensors'), safetensors(randomMedusaTensors(shape, seed)));
  return dir;
}
