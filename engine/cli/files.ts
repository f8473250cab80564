import { access, constants, readFile, stat } from 'node:fs/promises';
import { SlipstreamError } from '../errors.ts';
import { usageError } from './commandLine.ts';

/** Beyond this it is no source text; a JavaScript string ends not far above. */
const LARGEST_TEXT_BYTES = 2 ** 28;

/** A text file named on the command line, as UTF-8. A missing or unreadable one is a usage error. */
export async function readTextFile(path: string): Promise<string> {
  const bytes = await readBytes(path);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw usageError(`${path}: not a UTF-8 text file`, error);
  }
}

/** As an editor opens a text file: its byte order mark is no character of the first line. */
export async function readAsEdited(path: string): Promise<string> {
  return (await readTextFile(path)).replace(/^\ufeff/, '');
}

async function readBytes(path: string): Promise<Uint8Array> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw usageError(`${path}: is a folder, not a file`);
    // A device may never end.
    if (!found.isFile()) throw usageError(`${path}: not a regular file`);
    if (found.size > LARGEST_TEXT_BYTES) throw usageError(`${path}: larger than 256 MiB`);
    return await readFile(path);
  } catch (error) {
    if (error instanceof SlipstreamError) throw error;
    throw usageError(`${path}: ${reason(error)}`, error);
  }
}

/** Checks that a folder named on the command line is one whose files can be read, and returns it. */
export async function requireFolder(path: string): Promise<string> {
  await findFolder(path);
  await access(path, constants.R_OK | constants.X_OK).catch((error) => {
    throw usageError(`${path}: ${reason(error)}`, error);
  });
  return path;
}

/** Checks that a path leads to a folder, and returns it. */
export async function findFolder(path: string): Promise<string> {
  const found = await stat(path).catch((error) => {
    throw usageError(`${path}: ${reason(error)}`, error);
  });
  if (!found.isDirectory()) throw usageError(`${path}: not a folder`);
  return path;
}

function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'no such file or folder';
  if (code === 'EACCES') return 'may not be read';
  if (code === 'ELOOP') return 'a symbolic link that leads in a circle';
  return message;
}
