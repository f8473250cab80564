import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SlipstreamError } from './errors.ts';
import { writeProblem } from './writeProblem.ts';

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

/** @param cause the file system's error */
export function cacheFault(cacheDir: string, cause: NodeJS.ErrnoException): SlipstreamError {
  return new SlipstreamError(
    'io',
    `${cacheDir}: the cache folder cannot be written: ${writeProblem(cause)} (--cache-dir on the command line).`,
    { cause },
  );
}
