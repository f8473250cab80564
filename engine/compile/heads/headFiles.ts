import { basename, join } from 'node:path';
import { SlipstreamError } from '../../errors.ts';
import { exists, weightFiles } from '../checkpoint.ts';
import { ConfigReader } from '../config.ts';
import { readSafetensorsHeader } from '../safetensors.ts';
import type { NamedTensor } from '../storedTensor.ts';
import { readTorchTensors } from '../torchPickle.ts';

/** A folder that may hold a head: what its config says, and its tensors by the names in its files. */
export interface HeadFiles {
  readonly dir: string;
  readonly name: string;
  readonly config: ConfigReader;
  readonly tensors: ReadonlyMap<string, NamedTensor>;
  /** config.json and the weight files. */
  readonly files: readonly string[];
}

const formats = [
  { name: 'model.safetensors', read: readSafetensorsHeader },
  { name: 'medusa_lm_head.safetensors', read: readSafetensorsHeader },
  { name: 'pytorch_model.bin', read: readTorchTensors },
  { name: 'medusa_lm_head.pt', read: readTorchTensors },
];

/** @throws SlipstreamError model.notFound, model.corrupt, model.unsupported, naming the folder or the file */
export async function readHeadFiles(dir: string): Promise<HeadFiles> {
  const configFile = join(dir, 'config.json');
  if (!(await exists(configFile))) {
    throw new SlipstreamError('model.notFound', `${dir} is not a speculative head: it has no config.json.`);
  }
  const config = await ConfigReader.read(configFile);
  const tensors = new Map<string, NamedTensor>();
  const { files, read } = await findWeights(dir);
  for (const file of files) {
    for (const [name, tensor] of await read(file)) tensors.set(name, { ...tensor, name });
  }
  return { dir, name: basename(dir), config, tensors, files: [configFile, ...files] };
}

async function findWeights(dir: string) {
  for (const { name, read } of formats) {
    if ((await exists(join(dir, name))) || (await exists(join(dir, `${name}.index.json`)))) {
      return { files: await weightFiles(dir, name), read };
    }
  }
  const names = formats.map(({ name }) => name).join(', ');
  throw new SlipstreamError(
    'model.notFound',
    `${dir} is not a speculative head: it has no weights (${names}).`,
  );
}
