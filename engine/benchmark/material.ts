import { readdir } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { shuffle } from 'simple-statistics';
import { sampleWorkspaceDir } from '../sampleWorkspace.ts';
import type { Random } from '../seededRandom.ts';
import { scan } from '../workspace/folderScan.ts';
import { type FolderScope, folderScopes, type IndexedFolder } from '../workspace/folderScopes.ts';
import { IgnoreRules } from '../workspace/ignoreRules.ts';
import { readTextFile } from '../workspace/textFile.ts';
import type { BenchmarkMaterial } from './benchmarkReport.ts';
import type { BenchmarkDocument } from './tasks/task.ts';

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
export async function readFolder(path: string, random: Random, signal: AbortSignal): Promise<Material> {
  return read(
    'folder',
    basename(path),
    await indexedFiles(folderScopes([{ path, exclude: [] }])[0]),
    random,
    signal,
  );
}

/** @throws the signal's reason */
export async function readWorkspace(
  folders: readonly IndexedFolder[],
  random: Random,
  signal: AbortSignal,
): Promise<Material> {
  const scopes = folderScopes(folders);
  const found = await Promise.all(scopes.map(indexedFiles));
  const files = scopes.length > 1 ? found.map((own, i) => insideFolder(own, scopes[i])) : found;
  const name = folders.map(({ path }) => basename(path)).join(', ');
  return read('workspace', name, files.flat(), random, signal);
}

/** @throws the signal's reason */
export async function readSample(random: Random, signal: AbortSignal): Promise<Material> {
  return read('sample', 'sample files', await allFiles(sampleWorkspaceDir), random, signal);
}

interface MaterialFile {
  readonly path: string;
  /** As people read it. */
  readonly name: string;
}

async function read(
  kind: Material['kind'],
  name: string,
  files: readonly MaterialFile[],
  random: Random,
  signal: AbortSignal,
): Promise<Material> {
  const documents: BenchmarkDocument[] = [];
  let room = MOST_CHARACTERS;
  for (const file of shuffle([...files], random)) {
    signal.throwIfAborted();
    const document = await readDocument(file);
    if (document === undefined) continue;
    room -= document.text.length;
    if (room < 0) break;
    documents.push(document);
  }
  return { kind, name, documents: documents.sort(byPath), isPartial: room < 0 };
}

/** Those that the workspace index would read, sorted. */
async function indexedFiles({ path: folder, exclude, inner }: FolderScope): Promise<MaterialFile[]> {
  const files: MaterialFile[] = [];
  for await (const { path } of scan(folder, folder, new IgnoreRules(folder, exclude, inner))) {
    files.push({ path, name: relative(folder, path).split(sep).join('/') });
  }
  return files.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Those of the sample, whatever git ignores where Slipstream is installed; sorted. */
async function allFiles(folder: string): Promise<MaterialFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => ({ path, name: relative(folder, path).split(sep).join('/') }));
}

const insideFolder = (files: readonly MaterialFile[], { path }: IndexedFolder): MaterialFile[] =>
  files.map((file) => ({ ...file, name: `${basename(path)}/${file.name}` }));

/** @returns undefined for what is no text, generated, or gone */
async function readDocument({ path, name }: MaterialFile): Promise<BenchmarkDocument | undefined> {
  const file = await readTextFile(path).catch(() => undefined);
  if (file === undefined || 'skipped' in file) return undefined;
  return { uri: pathToFileURL(path).href, path: name, text: file.text };
}

const byPath = (a: BenchmarkDocument, b: BenchmarkDocument) => (a.path < b.path ? -1 : 1);
