import { basename, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { shuffle } from 'simple-statistics';
import { sampleWorkspaceDir } from '../sampleWorkspace.ts';
import type { Random } from '../seededRandom.ts';
import { scan } from '../workspace/folderScan.ts';
import { IgnoreRules } from '../workspace/ignoreRules.ts';
import { readTextFile } from '../workspace/textFile.ts';
import type { BenchmarkMaterial } from './benchmarkReport.ts';
import type { BenchmarkDocument } from './tasks/task.ts';

/** A folder to read, as the editor has it open. */
export interface MaterialFolder {
  readonly path: string;
  /** Globs of `files.exclude` that are on. */
  readonly exclude: readonly string[];
}

/** What there is to complete, and to draft from. */
export interface Material extends Pick<BenchmarkMaterial, 'kind' | 'name'> {
  /** Sorted by path: a seed chooses the same places on every file system. */
  readonly documents: readonly BenchmarkDocument[];
  /** Some of a large workspace's files were drawn. */
  readonly isPartial: boolean;
}

/** About a million tokens: they are encoded while somebody waits. */
const MOST_CHARACTERS = 4_000_000;

/** @throws the signal's reason */
export function readFolder(path: string, random: Random, signal: AbortSignal): Promise<Material> {
  return read('folder', basename(path), [{ path, exclude: [] }], random, signal);
}

/** @throws the signal's reason */
export function readWorkspace(
  folders: readonly MaterialFolder[],
  random: Random,
  signal: AbortSignal,
): Promise<Material> {
  const name = folders.map(({ path }) => basename(path)).join(', ');
  return read('workspace', name, folders, random, signal);
}

/** @throws the signal's reason */
export function readSample(random: Random, signal: AbortSignal): Promise<Material> {
  return read('sample', 'sample files', [{ path: sampleWorkspaceDir, exclude: [] }], random, signal);
}

interface MaterialFile {
  readonly path: string;
  /** As people read it. */
  readonly name: string;
}

async function read(
  kind: Material['kind'],
  name: string,
  folders: readonly MaterialFolder[],
  random: Random,
  signal: AbortSignal,
): Promise<Material> {
  const files = (await Promise.all(folders.map((folder) => filesIn(folder, folders.length > 1)))).flat();
  const documents: BenchmarkDocument[] = [];
  let room = MOST_CHARACTERS;
  for (const file of shuffle(files, random)) {
    signal.throwIfAborted();
    const document = await readDocument(file);
    if (document === undefined) continue;
    room -= document.text.length;
    if (room < 0) break;
    documents.push(document);
  }
  return { kind, name, documents: documents.sort(byPath), isPartial: room < 0 };
}

/** Those that the workspace index would read. */
async function filesIn(
  { path: folder, exclude }: MaterialFolder,
  isOneOfSeveral: boolean,
): Promise<MaterialFile[]> {
  const files: MaterialFile[] = [];
  for await (const { path } of scan(folder, folder, new IgnoreRules(folder, exclude))) {
    const inFolder = relative(folder, path).split(sep).join('/');
    files.push({ path, name: isOneOfSeveral ? `${basename(folder)}/${inFolder}` : inFolder });
  }
  return files.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** @returns undefined for what is no text, generated, or gone */
async function readDocument({ path, name }: MaterialFile): Promise<BenchmarkDocument | undefined> {
  const file = await readTextFile(path).catch(() => undefined);
  if (file === undefined || 'skipped' in file) return undefined;
  return { uri: pathToFileURL(path).href, path: name, text: file.text };
}

const byPath = (a: BenchmarkDocument, b: BenchmarkDocument) => (a.path < b.path ? -1 : 1);
