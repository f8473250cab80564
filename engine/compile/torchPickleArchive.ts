import type { FileHandle } from 'node:fs/promises';
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';
import { SlipstreamError } from '../errors.ts';
import { corrupt, unsupported } from './fileFault.ts';
import { haveOverlap } from './overlap.ts';
import { type FileRange, inflate, readRange } from './storedTensor.ts';

/** One file of a zip archive: where its bytes lie, and how many they are once inflated. */
export interface ArchiveEntry extends FileRange {
  readonly method: 'stored' | 'deflated';
  readonly inflatedLength: number;
}

/** More than any model has tensors. */
const MAX_ENTRIES = 100_000;
/** Deflate cannot do better (a run of 258 bytes in 2 bits): an entry that claims to is made to fill the memory. */
const MAX_INFLATION = 1032;

/**
 * The central directory of a zip archive. Every entry lies inside the file and none over another, so that what is read
 * later is what was checked.
 *
 * @throws SlipstreamError model.corrupt, model.unsupported, naming the file
 */
export async function readArchive(
  handle: FileHandle,
  file: string,
  size: number,
): Promise<Map<string, ArchiveEntry>> {
  const archive = await openArchive(handle, file, size);
  const entries = new Map<string, ArchiveEntry>();
  try {
    for await (const entry of archive.eachEntry()) {
      if (entries.has(entry.fileName)) throw corrupt(file, `holds ${entry.fileName} twice`);
      entries.set(entry.fileName, await locate(archive, entry, file));
    }
  } catch (cause) {
    if (cause instanceof SlipstreamError) throw cause;
    throw corrupt(file, `is damaged (${(cause as Error).message})`, cause);
  }
  if (haveOverlap(entries.values())) throw corrupt(file, 'has entries that overlap');
  return entries;
}

/** An entry's contents. To be called for small ones only. */
export async function readEntry(handle: FileHandle, file: string, entry: ArchiveEntry): Promise<Uint8Array> {
  const bytes = await readRange(handle, file, entry);
  const contents =
    bytes && entry.method === 'deflated' ? inflate(bytes, entry.inflatedLength) : (bytes ?? undefined);
  if (!contents) throw corrupt(file, 'is damaged');
  return contents;
}

async function openArchive(handle: FileHandle, file: string, size: number): Promise<ZipFile> {
  try {
    const archive = await fromRandomAccessReaderPromise(new BoundedReader(handle, size), size, {
      autoClose: false,
      strictFileNames: true,
    });
    if (archive.entryCount <= MAX_ENTRIES) return archive;
  } catch (cause) {
    throw corrupt(file, 'is not a complete zip archive, the download may be incomplete', cause);
  }
  throw corrupt(file, `claims to hold more than ${MAX_ENTRIES} entries`);
}

async function locate(archive: ZipFile, entry: Entry, file: string): Promise<ArchiveEntry> {
  if (!entry.canDecodeFileData()) {
    throw unsupported(file, `keeps ${entry.fileName} encrypted or compressed in a way that is not known`);
  }
  const { fileDataStart } = await archive.readLocalFileHeaderPromise(entry, { minimal: true });
  const { compressedSize, uncompressedSize } = entry;
  if (uncompressedSize > compressedSize * MAX_INFLATION) {
    throw corrupt(file, `claims that ${entry.fileName} is ${uncompressedSize} bytes long`);
  }
  return {
    offset: fileDataStart,
    byteLength: compressedSize,
    method: entry.compressionMethod === 0 ? 'stored' : 'deflated',
    inflatedLength: uncompressedSize,
  };
}

/** Answers offsets outside the file with an error; as they come from a zip64 record they would make Node.js throw. */
class BoundedReader extends RandomAccessReader {
  readonly #handle: FileHandle;
  readonly #size: number;

  constructor(handle: FileHandle, size: number) {
    super();
    this.#handle = handle;
    this.#size = size;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    if (position < 0 || position + length > this.#size) {
      setImmediate(callback, new Error('an offset lies outside the file'));
      return;
    }
    this.#handle.read(buffer, offset, length, position).then(
      ({ bytesRead }) => callback(null, bytesRead),
      (error: Error) => callback(error),
    );
  }
}
