import { readFile, stat } from 'node:fs/promises';
import { usageError } from './commandLine.ts';

/** A text file named on the command line, as UTF-8. A missing or unreadable one is a usage error. */
export async function readTextFile(path: string): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw usageError(`${path}: ${reason(error)}`, error);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw usageError(`${path}: not a UTF-8 text file`, error);
  }
}

/** Checks that a folder named on the command line is one, and returns it. */
export async function requireFolder(path: string): Promise<string> {
  const found = await stat(path).catch((error) => {
    throw usageError(`${path}: ${reason(error)}`, error);
  });
  if (!found.isDirectory()) throw usageError(`${path}: not a folder`);
  return path;
}

function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'no such file or folder';
  if (code === 'EISDIR') return 'is a folder, not a file';
  if (code === 'EACCES') return 'may not be read';
  return message;
}
