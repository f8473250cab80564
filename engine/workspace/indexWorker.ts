/**
 * The entry of the index's worker thread: everything that reads or writes files, tokenizes or computes for long.
 * Loads no native module.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { loadTokenizer } from '../model/tokenizer.ts';
import { readRegular } from '../regularFile.ts';
import { withLineFeeds } from '../text/withLineFeeds.ts';
import { type FileEntry, type FileTable, fileEntries, fileTable } from './fileTable.ts';
import { scan } from './folderScan.ts';
import { IgnoreRules } from './ignoreRules.ts';
import {
  type FolderSnapshot,
  readSnapshot,
  type SnapshotKey,
  snapshotFile,
  writeSnapshot,
} from './persistedIndex.ts';
import { SimilarityIndex } from './similarityIndex.ts';
import { similarTexts } from './similarTexts.ts';
import { readTextFile } from './textFile.ts';
import type {
  ReplyMessage,
  RequestMessage,
  ScanRequest,
  TokenizedFile,
  WorkerRequest,
  WorkerResult,
  WorkerStart,
} from './workerProtocol.ts';

const { modelDir, cacheDir } = workerData as WorkerStart;
const tokenizer = loadTokenizer(modelDir);
const similarity = new SimilarityIndex();
const tokenizerHash = hashOf(join(modelDir, 'tokenizer.json'));
// Requests report it; without any, a missing model is not this thread's to crash over.
tokenizer.catch(() => undefined);
tokenizerHash.catch(() => undefined);

parentPort!.on('message', async ({ id, request }: RequestMessage) => {
  try {
    const result = await answer(request);
    reply({ id, result }, buffersOf(result));
  } catch (error) {
    reply({ id, error: (error as Error).message }, []);
  }
});

function reply(message: ReplyMessage, buffers: ArrayBuffer[]): void {
  parentPort!.postMessage(message, buffers);
}

async function answer(request: WorkerRequest): Promise<WorkerResult> {
  switch (request.kind) {
    case 'scan':
      return scanPaths(request);
    case 'tokenizeFile':
      return tokenizeFile(request.path);
    case 'tokenizeText':
      return tokenize(request.text);
    case 'load':
      return load(request.folder);
    case 'save':
      return save(request.folder, request.snapshot);
    case 'similar':
      return similarTexts(similarity, request.near);
    case 'forget':
      for (const path of request.paths) similarity.delete(path);
      return null;
  }
}

async function scanPaths({ folder, exclude, inner, paths }: ScanRequest): Promise<FileTable> {
  const rules = new IgnoreRules(folder, exclude, inner);
  const found: FileEntry[] = [];
  for (const path of paths) {
    for await (const file of scan(folder, path, rules)) found.push({ ...file, tokenCount: 0 });
  }
  return fileTable(found);
}

async function tokenizeFile(path: string): Promise<TokenizedFile | undefined> {
  const file = await readTextFile(path).catch(() => undefined);
  if (file === undefined || 'skipped' in file) {
    similarity.delete(path);
    return file;
  }
  similarity.set(path, file.text, file);
  return { size: file.size, mtimeMs: file.mtimeMs, tokens: await tokenize(file.text) };
}

async function load(folder: string): Promise<FolderSnapshot | undefined> {
  const key = await keyOf(folder);
  const stored = await readSnapshot(snapshotFile(cacheDir, key), key);
  if (stored === undefined) return undefined;
  const unknown = similarity.restore(inFolder(folder, stored.files), stored.windows);
  // With another time they count as changed, and are read again.
  const files = [...fileEntries(stored.files)].map((file) =>
    unknown.has(join(folder, file.path)) ? { ...file, mtimeMs: 0 } : file,
  );
  return { files: fileTable(files), tokens: stored.tokens };
}

async function save(folder: string, snapshot: FolderSnapshot): Promise<null> {
  const key = await keyOf(folder);
  const windows = similarity.save(inFolder(folder, snapshot.files));
  await writeSnapshot(snapshotFile(cacheDir, key), key, { ...snapshot, windows });
  return null;
}

function inFolder(folder: string, files: FileTable): FileEntry[] {
  return [...fileEntries(files)].map((file) => ({ ...file, path: join(folder, file.path) }));
}

/** Lines end in \n, as they do in prompts. */
async function tokenize(text: string): Promise<Int32Array> {
  return (await tokenizer).encode(withLineFeeds(text));
}

async function keyOf(folder: string): Promise<SnapshotKey> {
  return { folder, tokenizer: await tokenizerHash };
}

async function hashOf(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readRegular(file))
    .digest('hex');
}

/** Tokens go to the other thread without a copy. */
function buffersOf(result: WorkerResult): ArrayBuffer[] {
  const tokens =
    result instanceof Int32Array ? result : result && 'tokens' in result ? result.tokens : undefined;
  // A view of a shared arena would take the arena with it.
  if (tokens === undefined || tokens.byteLength !== tokens.buffer.byteLength) return [];
  return [tokens.buffer as ArrayBuffer];
}
