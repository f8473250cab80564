import { rename, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type CommandLine, usageError } from './commandLine.ts';
import { requireFolder } from './files.ts';

/** The file of `--json FILE`, found to be writable as far as can be seen before minutes are spent on what goes there. */
export async function reportFile(line: CommandLine): Promise<string | undefined> {
  const file = line.text('json');
  if (file === undefined) return undefined;
  await requireFolder(dirname(resolve(file)));
  const found = await stat(file).catch(() => undefined);
  // It is replaced: a folder cannot be, and a device must not be.
  if (found && !found.isFile()) throw usageError(`--json: ${file} is not a regular file`);
  return file;
}

/** Beside it first: a report that is there already is replaced by a whole one. */
export async function writeReport(file: string, report: unknown): Promise<void> {
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, `${JSON.stringify(report, null, 1)}\n`);
  await rename(unfinished, file);
}
