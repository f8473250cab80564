import type { FileHandle } from 'node:fs/promises';
import { SlipstreamError } from '../errors.ts';
import { openRegular } from '../regularFile.ts';

/** @throws SlipstreamError model.notFound, io, naming the file */
export async function openWeightFile(file: string): Promise<FileHandle> {
  return openRegular(file).catch((cause) => {
    if (cause instanceof SlipstreamError) throw cause;
    throw new SlipstreamError('model.notFound', `${file}: cannot be opened.`, { cause });
  });
}
