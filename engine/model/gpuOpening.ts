import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../cacheFolder.ts';
import { SlipstreamError } from '../errors.ts';

/** After this long a GPU that took the engine down is tried again: drivers get updated. */
const AVOIDED_MS = 24 * 3_600_000;

/** One unfinished attempt may be a window that was closed meanwhile. */
const CRASHES = 2;

/**
 * Opens a GPU so that a driver that takes the process down does so twice at most: a file is there while it is being
 * opened, and who finds the files of processes that are gone leaves the GPU alone.
 *
 * @throws SlipstreamError device.unavailable when the last attempts ended that way
 */
export async function openGuarded<T>(cacheDir: string, open: () => Promise<T>): Promise<T> {
  const folder = join(cacheDir, 'gpu-opening');
  const unfinished = await unfinishedAttempts(folder);
  if (unfinished.length >= CRASHES) {
    throw new SlipstreamError(
      'device.unavailable',
      `The engine ended while it opened the GPU the last times; its driver may be at fault. It is left alone for a day, or until you delete ${folder}.`,
    );
  }
  const file = join(folder, String(process.pid));
  const written = makeFolder(folder).then(() => writeFile(file, ''));
  // An unwritable cache folder is reported by what needs it.
  await written.catch(() => {});
  let finished = [file];
  try {
    const opened = await open();
    finished = [file, ...unfinished];
    return opened;
  } finally {
    await Promise.all(finished.map(remove));
  }
}

/** Files of processes that ended while they opened a GPU, not long ago. */
async function unfinishedAttempts(folder: string): Promise<string[]> {
  const unfinished: string[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const file = join(folder, name);
    const written = await stat(file).catch(() => undefined);
    if (!written || isRunning(Number(name))) continue;
    if (Date.now() - written.mtimeMs < AVOIDED_MS) unfinished.push(file);
    else await remove(file);
  }
  return unfinished;
}

function remove(file: string): Promise<void> {
  return rm(file, { force: true }).catch(() => {});
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
