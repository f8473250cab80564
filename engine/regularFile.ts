import { type FileHandle, open, stat } from 'node:fs/promises';
import { SlipstreamError } from './errors.ts';

/**
 * Opens a file for reading: not a pipe, which would be waited for, nor a device, which may never end.
 *
 * @throws SlipstreamError io when it is something else than a file; the file system's error when it cannot be opened
 */
export async function openRegular(file: string): Promise<FileHandle> {
  if (!(await stat(file)).isFile()) {
    throw new SlipstreamError('io', `${file} is not a file but a folder, a pipe or a device.`);
  }
  return open(file, 'r');
}

/** @throws as `openRegular`; the file system's error when it cannot be read */
export async function readRegular(file: string): Promise<Buffer> {
  const handle = await openRegular(file);
  try {
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}
