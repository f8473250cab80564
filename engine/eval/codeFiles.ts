import { extname, join, relative, sep } from 'node:path';
import { type Language, languageOfPath } from '../syntax/language.ts';
import { scan } from '../workspace/folderScan.ts';
import { IgnoreRules } from '../workspace/ignoreRules.ts';
import { MAX_FILE_BYTES, readTextFile } from '../workspace/textFile.ts';

/** A file whose language has a grammar. */
export interface CodeFile {
  /** Relative to the folder, with forward slashes. */
  readonly path: string;
  readonly language: Language;
  readonly bytes: number;
}

/** The language of a file that somebody writes; undefined without a grammar, for data, and for what build tools make. */
export function languageOfCode(path: string): Language | undefined {
  const language = languageOfPath(path);
  const isBuilt = /\.(?:min|bundle|generated)$/iu.test(path.slice(0, -extname(path).length));
  return language === 'json' || isBuilt ? undefined : language;
}

/** The code of a folder that the workspace index would read too: neither ignored nor secret. Sorted by path. */
export async function codeFiles(folder: string): Promise<CodeFile[]> {
  const files: CodeFile[] = [];
  for await (const { path, size } of scan(folder, folder, new IgnoreRules(folder, []))) {
    const language = languageOfCode(path);
    if (language === undefined) continue;
    if (size === 0 || size > MAX_FILE_BYTES) continue;
    files.push({ path: relative(folder, path).replaceAll(sep, '/'), language, bytes: size });
  }
  // A seed chooses the same places on every file system.
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** @returns undefined for what is no text, minified, or gone */
export async function readCode(folder: string, file: CodeFile): Promise<string | undefined> {
  const read = await readTextFile(join(folder, file.path)).catch(() => undefined);
  return read !== undefined && 'text' in read ? read.text : undefined;
}
