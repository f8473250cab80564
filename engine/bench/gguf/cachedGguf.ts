import { mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { weightFiles } from '../../compile/checkpoint.ts';
import { ContentHasher } from '../../compile/contentHash.ts';
import { convertCheckpoint, type GgufPrecision, type GgufSource } from './convertCheckpoint.ts';
import { writeGguf } from './ggufFile.ts';

/** Raise it when the same checkpoint would convert to another file. */
const CONVERTER_VERSION = 1;

/** @returns the path of the checkpoint as a GGUF file, converted once and kept in the cache folder */
export async function cachedGguf(
  source: GgufSource,
  precision: GgufPrecision,
  cacheDir: string,
): Promise<string> {
  const inputs = [
    join(source.checkpointDir, 'config.json'),
    join(source.tokenizerDir, 'tokenizer.json'),
    ...(await weightFiles(source.checkpointDir)),
  ];
  const hash = await new ContentHasher(join(cacheDir, 'content-hashes.json')).hash(inputs);
  const file = join(cacheDir, 'gguf', `${hash.slice(0, 24)}-v${CONVERTER_VERSION}-${precision}.gguf`);
  const exists = await stat(file).then(
    () => true,
    () => false,
  );
  if (exists) return file;
  const partial = `${file}.partial-${process.pid}`;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(partial, writeGguf(await convertCheckpoint(source, precision)));
  await rename(partial, file);
  return file;
}
