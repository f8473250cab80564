import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { SlipstreamError } from '../errors.ts';
import { writeProblem } from '../writeProblem.ts';
import { type CommandLine, usageError } from './commandLine.ts';
import { findFolder } from './files.ts';

/** The file of `--json FILE`, found to be writable as far as can be seen before minutes are spent on what goes there. */
export async function reportFile(line: CommandLine): Promise<string | undefined> {
  const file = line.text('json');
  if (file === undefined) return undefined;
  const folder = await findFolder(dirname(resolve(file)));
  await access(folder, constants.W_OK).catch((error) => {
    throw usageError(`--json: ${folder} may not be written to`, error);
  });
  const found = await stat(file).catch(() => undefined);
  // It is replaced: a folder cannot be, and a device must not be.
  if (found && !found.isFile()) throw usageError(`--json: ${file} is not a regular file`);
  return file;
}

/**
 * Beside it first: a report that is there already is replaced by a whole one. Not interrupted either: a Ctrl-C meanwhile
 * is heard afterwards, and leaves no half of a file beside it.
 *
 * @throws SlipstreamError io
 */
export function writeReport(file: string, report: unknown): void {
  const unfinished = `${file}.${process.pid}`;
  const text = `${JSON.stringify(report, null, 1)}\n`;
  try {
    writeFileSync(unfinished, text);
    renameSync(unfinished, file);
  } catch (cause) {
    remove(unfinished);
    const message = `--json: ${file} could not be written: ${writeProblem(cause)}`;
    throw new SlipstreamError('io', message, { cause });
  }
}

function remove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // Why it could not be written says more than why nothing of it could be removed.
  }
}
