import { basename, relative } from 'node:path';
import type { IndexProgress } from '../protocol.ts';
import { documentId, isInside } from './documentId.ts';
import { FolderIndex, type FolderIndexParts } from './folderIndex.ts';
import { type FolderScope, folderScopes, type IndexedFolder, innermost } from './folderScopes.ts';
import type { TokenArray } from './hashChain.ts';
import type { Match } from './matchList.ts';
import { NgramIndex } from './ngramIndex.ts';
import { OpenDocuments } from './openDocuments.ts';
import { Pacer } from './pacer.ts';
import { isSecretPath } from './secretFiles.ts';
import { WorkerClient } from './workerClient.ts';
import type { SimilarTexts } from './workerProtocol.ts';

/** File events come in bursts (a checkout, an install): they are looked at together. */
const BURST_MS = 200;

/** After a change the index is saved at the latest so much later. */
const SAVE_AFTER_MS = 60_000;

const PROGRESS_EVERY_MS = 100;

/** About 250 MB of index. */
const MAX_TOKENS = 16_000_000;

/** Room of removed documents that is given back at a time. */
const COMPACT_TOKENS = 16_384;

export interface WorkspaceIndexOptions {
  /** Folder of the model; its tokenizer is loaded again in the index's own thread. */
  readonly modelDir: string;
  readonly vocabSize: number;
  readonly cacheDir: string;
  /** A workspace beyond it is indexed in part. */
  readonly maxTokens?: number;
  onProgress(progress: IndexProgress): void;
  /** All files of a folder are there, or a folder is gone: `similar` knows more or less than it did. */
  onFoldersChanged?(): void;
  log(level: 'info' | 'warn', message: string): void;
}

/**
 * The n-grams of all files of the workspace folders and of all open documents. Lookups are synchronous and always
 * answer from what is there; everything else happens in a worker thread and in short slices in between.
 */
export class WorkspaceIndex {
  readonly #options: WorkspaceIndexOptions;
  readonly #ngrams: NgramIndex;
  readonly #worker: WorkerClient;
  readonly #pacer = new Pacer();
  readonly #open: OpenDocuments;
  readonly #changedPaths = new Set<string>();
  #folders: readonly FolderIndex[] = [];
  #jobs: Promise<void> = Promise.resolve();
  #jobCount = 0;
  #files = { total: 0, done: 0 };
  #progressMs = 0;
  #burstTimer: NodeJS.Timeout | undefined;
  #saveTimer: NodeJS.Timeout | undefined;
  #disposed = false;

  constructor(options: WorkspaceIndexOptions) {
    this.#options = options;
    this.#ngrams = new NgramIndex({ vocabSize: options.vocabSize });
    this.#worker = new WorkerClient({ modelDir: options.modelDir, cacheDir: options.cacheDir });
    this.#open = new OpenDocuments(this.#ngrams, this.#worker);
  }

  get documentCount(): number {
    return this.#ngrams.documentCount;
  }

  get tokenCount(): number {
    return this.#ngrams.tokenCount;
  }

  get bytes(): number {
    return this.#ngrams.bytes;
  }

  /** Whether the next run finds everything as it is here. Why not is logged. */
  get isSaved(): boolean {
    return this.#folders.every(({ isSaved }) => isSaved);
  }

  /** As `NgramIndex.lookup`. */
  lookup(query: TokenArray): readonly Match[] {
    return this.#ngrams.lookup(query);
  }

  /** The document a match lies in: a file's path, or the URI of what is no file (`documentId`). */
  documentOf(match: Match): string | undefined {
    return this.#ngrams.documentOf(match);
  }

  /**
   * The pieces of files that are not open, most like what is being written: the text as it is on disk.
   * @param near the text right before the cursor
   */
  async similar(near: string): Promise<SimilarTexts> {
    const nothing: SimilarTexts = { texts: [], rarity: new Map() };
    if (this.#folders.length === 0) return nothing;
    try {
      const { texts, rarity } = await this.#worker.call({ kind: 'similar', near });
      // The worker may not have heard yet of what was opened or left the workspace.
      return { texts: texts.filter(({ path }) => this.#folders.some((folder) => folder.has(path))), rarity };
    } catch (error) {
      this.#fault(error);
      return nothing;
    }
  }

  /** Background work rests until the returned function is called. For the time of a completion. */
  hold(): () => void {
    return this.#pacer.hold();
  }

  /** The workspace's folders from now on. */
  setFolders(folders: readonly IndexedFolder[]): void {
    const wanted = folderScopes(folders);
    const key = (folder: FolderScope) => JSON.stringify(folder);
    const keys = new Set(wanted.map(key));
    const removed = this.#folders.filter((known) => !keys.has(key(known.folder)));
    for (const known of removed) known.remove();
    const kept = this.#folders.filter((known) => keys.has(key(known.folder)));
    const keptKeys = new Set(kept.map((known) => key(known.folder)));
    const added = wanted
      .filter((folder) => !keptKeys.has(key(folder)))
      .map((folder) => new FolderIndex(folder, this.#folderParts()));
    this.#folders = [...kept, ...added];
    for (const folder of added) this.#enqueue(() => this.#build(folder));
    if (removed.length > 0) this.#enqueue(() => this.#afterRemoval());
  }

  /** Files or folders that were created, changed, renamed or deleted, by URI. */
  filesChanged(uris: readonly string[]): void {
    for (const uri of uris) this.#changedPaths.add(documentId(uri));
    this.#burstTimer ??= setTimeout(() => this.#refreshChanged(), BURST_MS);
  }

  /** A document was opened or edited: its text stands in for the file until `documentClosed`. */
  documentChanged(uri: string, getText: () => string): void {
    const id = documentId(uri);
    if (this.#isSecret(id)) return;
    this.#open.changed(id, getText, (error) => this.#fault(error));
    for (const folder of this.#folders) folder.release(id);
  }

  documentClosed(uri: string): void {
    const id = documentId(uri);
    if (!this.#open.closed(id)) return;
    this.#ngrams.delete(id);
    if (this.#folders.some((folder) => isInside(id, folder.folder.path))) this.filesChanged([uri]);
  }

  /** When everything known so far is indexed and saved. */
  async whenIdle(): Promise<void> {
    while (this.#jobCount > 0 || this.#burstTimer !== undefined) {
      if (this.#burstTimer !== undefined) this.#refreshChanged();
      await this.#jobs;
    }
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    clearTimeout(this.#burstTimer);
    clearTimeout(this.#saveTimer);
    this.#open.dispose();
    await this.#worker.dispose();
  }

  /** As the scan of a folder judges: by the path below it. Where somebody keeps their work says nothing. */
  #isSecret(id: string): boolean {
    const folder = innermost(
      this.#folders.map(({ folder }) => folder),
      id,
    );
    return isSecretPath(folder === undefined ? id : relative(folder.path, id));
  }

  async #afterRemoval(): Promise<void> {
    this.#options.onFoldersChanged?.();
    await this.#compact();
  }

  async #build(folder: FolderIndex): Promise<void> {
    await folder.load();
    await folder.refresh([folder.folder.path]);
    this.#options.onFoldersChanged?.();
    await this.#compact();
    await folder.save();
  }

  #refreshChanged(): void {
    clearTimeout(this.#burstTimer);
    this.#burstTimer = undefined;
    const changed = [...this.#changedPaths];
    this.#changedPaths.clear();
    for (const folder of this.#folders) {
      const { path } = folder.folder;
      const inside = changed.filter((id) => isInside(id, path));
      if (inside.length === 0) continue;
      const rulesChanged = inside.some((id) => basename(id) === '.gitignore');
      this.#enqueue(() => folder.refresh(rulesChanged ? [path] : inside));
    }
    this.#enqueue(() => this.#compact());
    this.#saveTimer ??= setTimeout(() => this.#saveAll(), SAVE_AFTER_MS).unref();
  }

  #saveAll(): void {
    this.#saveTimer = undefined;
    for (const folder of this.#folders) this.#enqueue(() => folder.save());
  }

  async #compact(): Promise<void> {
    while (this.#ngrams.compact(COMPACT_TOKENS)) await this.#pacer.pause();
  }

  /** Jobs run one after the other; a fault in one does not stop the next. */
  #enqueue(job: () => Promise<void>): void {
    this.#jobCount++;
    this.#jobs = this.#jobs
      .then(() => (this.#disposed ? undefined : job()))
      .catch((error) => this.#fault(error))
      .then(() => {
        this.#jobCount--;
        if (this.#jobCount === 0) this.#ready();
      });
  }

  #ready(): void {
    if (this.#disposed) return;
    this.#report('ready');
    this.#files = { total: 0, done: 0 };
  }

  #folderParts(): FolderIndexParts {
    return {
      ngrams: this.#ngrams,
      worker: this.#worker,
      pacer: this.#pacer,
      maxTokens: this.#options.maxTokens ?? MAX_TOKENS,
      isOpen: (id) => this.#open.has(id),
      onFiles: (added, done) => {
        this.#files.total += added;
        this.#files.done += done;
        if (performance.now() - this.#progressMs > PROGRESS_EVERY_MS) this.#report('building');
      },
      log: (level, message) => this.#options.log(level, message),
    };
  }

  #report(state: IndexProgress['state']): void {
    this.#progressMs = performance.now();
    const { total, done } = this.#files;
    this.#options.onProgress({ state, files: total, filesDone: done, tokens: this.tokenCount });
  }

  #fault(error: unknown): void {
    if (!this.#disposed) this.#options.log('warn', `The workspace index: ${(error as Error).message}`);
  }
}
