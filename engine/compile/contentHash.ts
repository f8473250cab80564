import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';

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
      if (memory[key] === undefined) {
        memory[key] = await hashFile(file);
        learned = true;
      }
      whole.update(memory[key]);
    }
    if (learned) await this.#save(memory);
    return whole.digest('hex');
  }

  async #load(): Promise<Record<string, string>> {
    try {
      const memory: unknown = JSON.parse(await readFile(this.#memoryFile, 'utf8'));
      return typeof memory === 'object' && memory !== null ? { ...memory } : {};
    } catch {
      return {};
    }
  }

  async #save(memory: Record<string, string>): Promise<void> {
    const partial = `${this.#memoryFile}.${process.pid}`;
    await mkdir(dirname(this.#memoryFile), { recursive: true });
    await writeFile(partial, JSON.stringify(memory));
    await rename(partial, this.#memoryFile);
  }
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}
