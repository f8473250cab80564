import type { FileTable } from './fileTable.ts';
import type { FolderSnapshot } from './persistedIndex.ts';
import type { TextFile } from './textFile.ts';

/** What the index worker is started with. */
export interface WorkerStart {
  /** Folder of the model whose tokenizer is used. */
  readonly modelDir: string;
  readonly cacheDir: string;
}

export interface ScanRequest {
  readonly kind: 'scan';
  readonly folder: string;
  readonly exclude: readonly string[];
  /** Folders inside it that are not looked into. */
  readonly inner: readonly string[];
  /** Files or folders at or below the folder. */
  readonly paths: readonly string[];
}

export type TokenizedFile =
  | { readonly size: number; readonly mtimeMs: number; readonly tokens: Int32Array }
  | Extract<TextFile, { skipped: unknown }>;

/** A piece of a file that is like what is being written; `text` as the file is now. */
export interface SimilarText {
  readonly path: string;
  readonly firstLine: number;
  readonly text: string;
}

export interface SimilarTexts {
  /** The most similar one first. */
  readonly texts: readonly SimilarText[];
  /** How rare in the workspace what the place mentions is (likeness.ts). */
  readonly rarity: ReadonlyMap<string, number>;
}

/** Requests and their results. */
export interface WorkerCalls {
  scan: { readonly request: ScanRequest; readonly result: FileTable };
  tokenizeFile: {
    readonly request: { readonly kind: 'tokenizeFile'; readonly path: string };
    /** undefined: the file is gone or cannot be read. */
    readonly result: TokenizedFile | undefined;
  };
  tokenizeText: {
    readonly request: { readonly kind: 'tokenizeText'; readonly text: string };
    readonly result: Int32Array;
  };
  load: {
    readonly request: { readonly kind: 'load'; readonly folder: string };
    readonly result: FolderSnapshot | undefined;
  };
  save: {
    readonly request: { readonly kind: 'save'; readonly folder: string; readonly snapshot: FolderSnapshot };
    readonly result: null;
  };
  similar: {
    /** near: the text right before the cursor */
    readonly request: { readonly kind: 'similar'; readonly near: string };
    readonly result: SimilarTexts;
  };
  /** These files are not to be found as similar any more. */
  forget: {
    readonly request: { readonly kind: 'forget'; readonly paths: readonly string[] };
    readonly result: null;
  };
}

export type CallKind = keyof WorkerCalls;
export type WorkerRequest = WorkerCalls[CallKind]['request'];
export type WorkerResult = WorkerCalls[CallKind]['result'];

export interface RequestMessage {
  readonly id: number;
  readonly request: WorkerRequest;
}

export type ReplyMessage =
  | { readonly id: number; readonly result: WorkerResult }
  | { readonly id: number; readonly error: string };
