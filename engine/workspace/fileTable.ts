import type { FileStamp } from './folderScan.ts';

/** A file and how it was when it was looked at. */
export interface FileEntry extends FileStamp {
  readonly path: string;
  /** Tokens kept of it. */
  readonly tokenCount: number;
}

/**
 * Many file entries in two flat values: an array of ten thousands of objects would take tens of milliseconds to
 * cross from one thread to another.
 */
export interface FileTable {
  /** Each followed by a zero character, which no path contains. */
  readonly paths: string;
  readonly numbers: Float64Array; // [entry, (size, mtimeMs, tokenCount)]
}

export function fileTable(entries: readonly FileEntry[]): FileTable {
  return {
    paths: entries.map(({ path }) => `${path}\0`).join(''),
    numbers: Float64Array.from(
      entries.flatMap(({ size, mtimeMs, tokenCount }) => [size, mtimeMs, tokenCount]),
    ),
  };
}

export function* fileEntries({ paths, numbers }: FileTable): Generator<FileEntry> {
  let start = 0;
  for (let i = 0; i < numbers.length; i += 3) {
    const end = paths.indexOf('\0', start);
    const path = paths.slice(start, end);
    yield { path, size: numbers[i], mtimeMs: numbers[i + 1], tokenCount: numbers[i + 2] };
    start = end + 1;
  }
}
