import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SlipstreamError } from './errors.ts';

/**
 * Makes a folder and those above it. Node's own `recursive` never ends where a folder can be made in none that is there
 * (/proc), and says of a read-only file system that something is missing.
 *
 * @throws the file system's error
 */
export async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  const above = dirname(folder);
  if (above !== folder) await makeFolder(above);
  await mkdir(folder).catch(async (error) => {
    // Somebody else may have been faster.
    if (!(await isFolder(folder))) throw error;
  });
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

const NOT_A_FOLDER = 'it, or what is above it, is not a folder';
const NOT_ALLOWED = 'it may not be written';
const FULL = 'the disk is full';
const reasons: Readonly<Record<string, string>> = {
  EROFS: 'its file system is read-only',
  EEXIST: NOT_A_FOLDER,
  ENOTDIR: NOT_A_FOLDER,
  EACCES: NOT_ALLOWED,
  EPERM: NOT_ALLOWED,
  ENOENT: 'no folder can be made there',
  ENOSPC: FULL,
  EDQUOT: FULL,
};

/** @param cause the file system's error */
export function cacheFault(cacheDir: string, cause: NodeJS.ErrnoException): SlipstreamError {
  const reason = reasons[cause.code ?? ''] ?? cause.message;
  return new SlipstreamError(
    'io',
    `${cacheDir}: the cache folder cannot be written: ${reason}. Choose another one (--cache-dir).`,
    { cause },
  );
}
