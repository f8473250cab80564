import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeFolder } from '../cacheFolder.ts';

/** Files whose hashes are remembered: those of many models, and some hundred bytes each. */
const REMEMBERED = 256;

/**
 * SHA-256 of files' contents. Hashing gigabytes at every start would cost seconds, so hashes are remembered by path,
 * size and time of change; a lost or broken memory costs only the hashing.
 */
export class ContentHasher {
  readonly #memoryFile: string;

  constructor(memoryFile: string) {
    this.#memoryFile = memoryFile;
  }

  async hash(files: readonly string[]): Promise<string> {
    const memory = await this.#load();
    const whole = createHash('sha256');
    let learned = false;
    for (const file of files) {
      const { size, mtimeMs, ino } = await stat(file);
      const key = `${await realpath(file)}|${size}|${mtimeMs}|${ino}`;
      const known = memory.get(key);
      const hash = known ?? (await hashFile(file));
      learned ||= known === undefined;
      memory.delete(key); // What was asked for last stands last.
      memory.set(key, hash);
      whole.update(hash);
    }
    if (learned) await this.#save(memory);
    return whole.digest('hex');
  }

  async #load(): Promise<Map<string, string>> {
    try {
      const memory: unknown = JSON.parse(await readFile(this.#memoryFile, 'utf8'));
      return new Map(Object.entries(memory ?? {}).filter(([, hash]) => typeof hash === 'string'));
    } catch {
      return new Map();
    }
  }

  async #save(memory: ReadonlyMap<string, string>): Promise<void> {
    const partial = `${this.#memoryFile}.${randomUUID()}`;
    try {
      await makeFolder(dirname(this.#memoryFile));
      await writeFile(partial, JSON.stringify(Object.fromEntries([...memory].slice(-REMEMBERED))));
      await rename(partial, this.#memoryFile);
    } catch {
      await rm(partial, { force: true }).catch(() => {});
    }
  }
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}
