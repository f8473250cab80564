import { closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Writes the chunks beside the file and gives them its name last: a run that is killed or fails leaves no shorter file,
 * which the next step would take for a whole one.
 */
export function writeWholeFile(file: string, chunks: Iterable<string | NodeJS.ArrayBufferView>): void {
  const partial = `${file}.partial-${process.pid}`;
  try {
    appendChunks(partial, chunks);
    renameSync(partial, file);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

function appendChunks(file: string, chunks: Iterable<string | NodeJS.ArrayBufferView>): void {
  const descriptor = openSync(file, 'w');
  try {
    // Not writeSync: that may write a part and only say so.
    for (const chunk of chunks) writeFileSync(descriptor, chunk);
  } finally {
    closeSync(descriptor);
  }
}
