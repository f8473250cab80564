import { dirname, join, relative } from 'node:path';
import { isInside } from './documentId.ts';
import { type FileEntry, fileEntries, fileTable } from './fileTable.ts';
import type { FolderScope } from './folderScopes.ts';
import type { NgramIndex } from './ngramIndex.ts';
import type { Pacer } from './pacer.ts';
import type { FolderSnapshot } from './persistedIndex.ts';
import type { WorkerClient } from './workerClient.ts';

/** Files that are read and tokenized at once: enough to keep the worker busy, few enough to let an edit pass. */
const LANES = 3;

export interface FolderIndexParts {
  readonly ngrams: NgramIndex;
  readonly worker: WorkerClient;
  readonly pacer: Pacer;
  /** A workspace beyond it is indexed in part. */
  readonly maxTokens: number;
  /** Whether the editor's text of a document stands in for the file. */
  isOpen(id: string): boolean;
  /** Files that will be read, and that were. */
  onFiles(added: number, done: number): void;
  log(level: 'info' | 'warn', message: string): void;
}

/** Keeps the files of one workspace folder in the index as they are on disk. */
export class FolderIndex {
  readonly folder: FolderScope;
  readonly #parts: FolderIndexParts;
  readonly #files = new Map<string, FileEntry>(); // by path
  /** Files whose room in the index the editor's text took over. */
  readonly #released = new Set<string>();
  #removed = false;
  #isSaved = false;
  #saidFull = false;

  constructor(folder: FolderScope, parts: FolderIndexParts) {
    this.folder = folder;
    this.#parts = parts;
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  /** Whether the next run finds the folder as it is here. */
  get isSaved(): boolean {
    return this.#isSaved;
  }

  /** Takes in what an earlier run saved. */
  async load(): Promise<void> {
    const { worker, ngrams, pacer, isOpen, log } = this.#parts;
    let snapshot: FolderSnapshot | undefined;
    try {
      snapshot = await worker.call({ kind: 'load', folder: this.folder.path });
    } catch (error) {
      log('info', (error as Error).message);
    }
    if (snapshot === undefined) return;
    let at = 0;
    this.#isSaved = true;
    // The worker has all files of the snapshot by now.
    const unwanted: string[] = [];
    for (const entry of fileEntries(snapshot.files)) {
      await pacer.pause();
      const path = join(this.folder.path, entry.path);
      const tokens = snapshot.tokens.subarray(at, at + entry.tokenCount);
      at += entry.tokenCount;
      if (this.#removed || isOpen(path) || this.#isInner(path)) {
        unwanted.push(path);
        continue;
      }
      this.#files.set(path, { ...entry, path });
      if (tokens.length > 0) ngrams.set(path, tokens);
    }
    if (unwanted.length > 0) this.#isSaved = false;
    this.#forget(unwanted);
  }

  /** Looks at these files and folders again: reads what is new or changed, drops what is gone or ignored now. */
  async refresh(paths: readonly string[]): Promise<void> {
    const { path: folder, exclude, inner } = this.folder;
    const table = await this.#parts.worker.call({ kind: 'scan', folder, exclude, inner, paths });
    const found = new Set<string>();
    const changed: FileEntry[] = [];
    for (const file of fileEntries(table)) {
      await this.#parts.pacer.pause();
      found.add(file.path);
      const known = this.#files.get(file.path);
      if (known?.size !== file.size || known.mtimeMs !== file.mtimeMs) changed.push(file);
    }
    await this.#dropMissing(new Set(paths), found);
    this.#parts.onFiles(changed.length, 0);
    const lanes = Array.from({ length: LANES }, () => this.#readAll(changed));
    await Promise.all(lanes);
  }

  /** Saves what changed since the last time. */
  async save(): Promise<void> {
    if (this.#isSaved || this.#removed) return;
    this.#isSaved = true;
    try {
      const snapshot = await this.#snapshot();
      const buffer = snapshot.tokens.buffer as ArrayBuffer;
      await this.#parts.worker.call({ kind: 'save', folder: this.folder.path, snapshot }, [buffer]);
    } catch (error) {
      this.#isSaved = false;
      throw error;
    }
  }

  /** The folder's version of a document no longer counts: it was opened, or is to be read again. */
  release(path: string): void {
    if (!this.#files.delete(path)) return;
    this.#released.add(path);
    this.#isSaved = false;
    this.#forget([path]);
  }

  /** Takes everything out of the index. */
  remove(): void {
    this.#removed = true;
    this.#forget([...this.#files.keys()]);
    for (const path of this.#files.keys()) this.#drop(path);
  }

  async #readAll(queue: FileEntry[]): Promise<void> {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      if (this.#removed) return;
      await this.#read(file.path);
      this.#parts.onFiles(0, 1);
      await this.#parts.pacer.pause();
    }
  }

  async #read(path: string): Promise<void> {
    const { ngrams, worker, maxTokens, isOpen, log } = this.#parts;
    if (isOpen(path)) return;
    const hasRoom = this.#released.delete(path) || this.#files.has(path);
    if (!hasRoom && ngrams.tokenCount >= maxTokens) {
      if (!this.#saidFull)
        log('warn', `The workspace is larger than its index: ${path} and more are left out.`);
      this.#saidFull = true;
      return;
    }
    const file = await worker.call({ kind: 'tokenizeFile', path });
    if (this.#removed || isOpen(path)) {
      this.#forget([path]);
      return;
    }
    this.#isSaved = false;
    if (file === undefined) {
      this.#drop(path);
      return;
    }
    const tokens = 'tokens' in file ? file.tokens : new Int32Array(0);
    this.#files.set(path, { path, size: file.size, mtimeMs: file.mtimeMs, tokenCount: tokens.length });
    if (tokens.length > 0) ngrams.set(path, tokens);
    else ngrams.delete(path);
  }

  async #dropMissing(looked: ReadonlySet<string>, found: ReadonlySet<string>): Promise<void> {
    for (const path of [...this.#files.keys()]) {
      await this.#parts.pacer.pause();
      if (found.has(path) || !this.#isBelow(path, looked)) continue;
      this.#drop(path);
      this.#forget([path]);
    }
  }

  #isInner(path: string): boolean {
    return this.folder.inner.some((folder) => isInside(path, folder));
  }

  #isBelow(path: string, looked: ReadonlySet<string>): boolean {
    for (let above = path; isInside(above, this.folder.path); above = dirname(above)) {
      if (looked.has(above)) return true;
      if (above === dirname(above)) break;
    }
    return false;
  }

  #drop(path: string): void {
    if (this.#files.delete(path)) this.#isSaved = false;
    if (!this.#parts.isOpen(path)) this.#parts.ngrams.delete(path);
  }

  /** The worker does not find them as similar to anything any more. It has nothing to forget when it is gone. */
  #forget(paths: readonly string[]): void {
    if (paths.length > 0) this.#parts.worker.call({ kind: 'forget', paths }).catch(() => undefined);
  }

  /** Copied in slices; what changes meanwhile is left out or comes as it is then, with the stamp that fits. */
  async #snapshot(): Promise<FolderSnapshot> {
    const { ngrams, pacer } = this.#parts;
    const contentless = [...this.#files.values()].filter(({ tokenCount }) => tokenCount === 0);
    const indexed = [...ngrams.documentIds()].filter((id) => this.#files.has(id));
    const size = indexed.reduce((sum, id) => sum + this.#files.get(id)!.tokenCount, 0);
    const tokens = ngrams.isNarrow ? new Uint16Array(size) : new Int32Array(size);
    const saved: FileEntry[] = contentless.map((entry) => this.#relative(entry));
    let at = 0;
    for (const id of indexed) {
      await pacer.pause();
      const entry = this.#files.get(id);
      const text = ngrams.tokensOf(id);
      if (entry === undefined || text?.length !== entry.tokenCount || at + text.length > size) continue;
      tokens.set(text, at);
      at += text.length;
      saved.push(this.#relative(entry));
    }
    return { files: fileTable(saved), tokens };
  }

  #relative(entry: FileEntry): FileEntry {
    return { ...entry, path: relative(this.folder.path, entry.path) };
  }
}
