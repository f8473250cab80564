import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SlipstreamError } from '../errors.ts';

/** After this long a GPU that took the engine down is tried again: drivers get updated. */
const AVOIDED_MS = 24 * 3_600_000;

/**
 * Opens a GPU so that a driver that takes the process down does so once: a file is there while it is being opened, and who
 * finds one of a process that is gone leaves the GPU alone.
 *
 * @throws SlipstreamError device.unavailable when the last attempt ended that way
 */
export async function openGuarded<T>(cacheDir: string, open: () => Promise<T>): Promise<T> {
  const folder = join(cacheDir, 'gpu-opening');
  await refuseAfterCrash(folder);
  const file = join(folder, String(process.pid));
  const written = mkdir(folder, { recursive: true }).then(() => writeFile(file, ''));
  // An unwritable cache folder is reported by what needs it.
  await written.catch(() => {});
  try {
    return await open();
  } finally {
    await rm(file, { force: true }).catch(() => {});
  }
}

async function refuseAfterCrash(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const file = join(folder, name);
    const written = await stat(file).catch(() => undefined);
    if (!written || isRunning(Number(name))) continue;
    if (Date.now() - written.mtimeMs < AVOIDED_MS) {
      throw new SlipstreamError(
        'device.unavailable',
        `The engine ended while it opened the GPU the last time; its driver may be at fault. It is left alone for a day, or until you delete ${file}.`,
      );
    }
    await rm(file, { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
