import { createHash, randomUUID } from 'node:crypto';
import { open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { makeFolder } from '../cacheFolder.ts';
import { SlipstreamError } from '../errors.ts';
import { writeProblem } from '../writeProblem.ts';
import type { FileTable } from './fileTable.ts';

/** Raise it whenever the layout or what is tokenized changes: older files are then rebuilt. */
const VERSION = 2;
const MAGIC = 0x474e_4c53; // "SLNG"
/** Folders whose snapshots are kept; those not opened for longest go. */
const KEPT_SNAPSHOTS = 64;
/** A writer that was killed leaves its file; after this long nobody is writing it. */
const ABANDONED_MS = 3_600_000;
const PREAMBLE_BYTES = 16; // magic, version, bytes of the header, CRC-32 of all that follows

/** The files of one workspace folder and their tokens, oldest first. */
export interface FolderSnapshot {
  /** Paths are relative to the folder; the tokens of each file follow those of the one before it. */
  readonly files: FileTable;
  readonly tokens: Int32Array | Uint16Array;
}

/** What the worker keeps of a folder. */
export interface StoredFolder extends FolderSnapshot {
  /** Of `SimilarityIndex.save`, in the order of the files. */
  readonly windows: Uint16Array;
}

/** What a persisted index is valid for. */
export interface SnapshotKey {
  readonly folder: string;
  /** Content hash of the tokenizer. */
  readonly tokenizer: string;
}

interface Header extends SnapshotKey {
  readonly bytesPerToken: number;
  readonly tokenBytes: number;
  readonly paths: string;
  readonly numbers: readonly number[];
}

export function snapshotFile(cacheDir: string, key: SnapshotKey): string {
  const name = createHash('sha256')
    .update(JSON.stringify([key.folder, key.tokenizer]))
    .digest('hex');
  return join(cacheDir, 'ngrams', `${name.slice(0, 32)}.idx`);
}

/**
 * Replaces the file in one step: whoever reads meanwhile, or after a crash, sees the old one or the new one.
 * @throws SlipstreamError io
 */
export async function writeSnapshot(file: string, key: SnapshotKey, snapshot: StoredFolder): Promise<void> {
  const temporary = `${file}.${randomUUID()}`;
  try {
    await makeFolder(dirname(file));
    const handle = await open(temporary, 'wx');
    try {
      for (const part of encode(key, snapshot)) await handle.writeFile(part);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
    await removeUnused(dirname(file));
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined);
    // The reason too: a cause does not leave the worker thread.
    throw new SlipstreamError('io', `${file} could not be saved: ${writeProblem(cause)}.`, { cause });
  }
}

/**
 * @returns undefined when there is none
 * @throws SlipstreamError io when it is damaged, of another version or not to be read: it has to be rebuilt
 */
export async function readSnapshot(file: string, key: SnapshotKey): Promise<StoredFolder | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new SlipstreamError('io', `The workspace index ${file} cannot be read; it is rebuilt.`, { cause });
  }
  try {
    const snapshot = decode(bytes, key);
    await markUsed(file);
    return snapshot;
  } catch (cause) {
    const why = (cause as Error).message;
    throw new SlipstreamError('io', `The workspace index ${file} is ${why}; it is rebuilt.`, { cause });
  }
}

/** A read-only cache still works; it only forgets what was used last. */
async function markUsed(file: string): Promise<void> {
  const now = new Date();
  await utimes(file, now, now).catch(() => {});
}

/** Snapshots of folders that nobody opens any more, and what a killed process left half-written. */
async function removeUnused(folder: string): Promise<void> {
  const files: { path: string; usedMs: number }[] = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found) files.push({ path, usedMs: found.mtimeMs });
  }
  const isWhole = ({ path }: { path: string }) => path.endsWith('.idx');
  const abandoned = files.filter((one) => !isWhole(one) && Date.now() - one.usedMs > ABANDONED_MS);
  const unused = files
    .filter(isWhole)
    .sort((a, b) => b.usedMs - a.usedMs)
    .slice(KEPT_SNAPSHOTS);
  // One that is in use cannot be removed everywhere; it goes another time.
  for (const { path } of [...abandoned, ...unused]) await rm(path, { force: true }).catch(() => {});
}

function encode(key: SnapshotKey, { files, tokens, windows }: StoredFolder): Uint8Array[] {
  const header: Header = {
    folder: key.folder,
    tokenizer: key.tokenizer,
    bytesPerToken: tokens.BYTES_PER_ELEMENT,
    tokenBytes: tokens.byteLength,
    paths: files.paths,
    numbers: [...files.numbers],
  };
  const headerBytes = Buffer.from(JSON.stringify(header));
  const tokenBytes = bytesOf(tokens);
  const windowBytes = bytesOf(windows);
  const preamble = Buffer.alloc(PREAMBLE_BYTES);
  preamble.writeUInt32LE(MAGIC, 0);
  preamble.writeUInt32LE(VERSION, 4);
  preamble.writeUInt32LE(headerBytes.length, 8);
  preamble.writeUInt32LE(checksum([headerBytes, tokenBytes, windowBytes]), 12);
  return [preamble, headerBytes, tokenBytes, windowBytes];
}

/** Of the parts joined. An empty part is left out: zlib takes it for the start of another checksum. */
function checksum(parts: readonly Uint8Array[]): number {
  return parts.reduce((crc, part) => (part.length === 0 ? crc : crc32(part, crc)), 0);
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint16Array | Int32Array) =>
  new Uint8Array(buffer, byteOffset, byteLength);

function decode(bytes: Buffer, key: SnapshotKey): StoredFolder {
  if (bytes.length < PREAMBLE_BYTES || bytes.readUInt32LE(0) !== MAGIC) throw new Error('not an index');
  if (bytes.readUInt32LE(4) !== VERSION) throw new Error('of another version');
  if (crc32(bytes.subarray(PREAMBLE_BYTES)) !== bytes.readUInt32LE(12)) throw new Error('damaged');
  const tokensAt = PREAMBLE_BYTES + bytes.readUInt32LE(8);
  const header = JSON.parse(bytes.toString('utf8', PREAMBLE_BYTES, tokensAt)) as Header;
  if (header.folder !== key.folder || header.tokenizer !== key.tokenizer)
    throw new Error('of something else');
  const files = { paths: header.paths, numbers: Float64Array.from(header.numbers) };
  const windowsAt = tokensAt + header.tokenBytes;
  // Copies, because they need aligned buffers, and tokens one of their own to be handed to another thread.
  const tokenBytes = new Uint8Array(bytes.subarray(tokensAt, windowsAt)).buffer;
  const windows = new Uint16Array(new Uint8Array(bytes.subarray(windowsAt)).buffer);
  const tokens = header.bytesPerToken === 2 ? new Uint16Array(tokenBytes) : new Int32Array(tokenBytes);
  return { files, tokens, windows };
}
