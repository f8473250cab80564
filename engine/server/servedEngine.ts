import type { TextDocument } from 'vscode-languageserver-textdocument';
import type * as protocol from '../protocol.ts';

/** What the server needs of the engine. */
export interface Engine {
  readonly facts: protocol.ModelFacts;
  /** Documents change under their readers: what is needed of them is read before the first await. */
  complete(request: CompleteRequest, signal: AbortSignal): Promise<protocol.CompleteResult>;
  /** As for `complete`. */
  alternatives(request: AlternativesRequest, signal: AbortSignal): Promise<protocol.AlternativesResult>;
  /** Evaluates ahead what a completion here begins with. As for `complete`. @returns the tokens evaluated */
  prepare(request: PlaceRequest, signal: AbortSignal): Promise<number>;
  listAlgorithms(): Promise<readonly protocol.AlgorithmFacts[]>;
  /** The prompt of the last completion as text. */
  lastPrompt(): string | null;
  documentChanged(document: TextDocument): void;
  documentClosed(uri: string): void;
  /** Created, changed, renamed or deleted. */
  filesChanged(uris: readonly string[]): void;
  setFolders(folders: readonly protocol.WorkspaceFolder[]): void;
  /** Rejects with SlipstreamError. @returns what was measured, of a cancelled one too; null when that is nothing */
  runBenchmark(request: BenchmarkRequest, signal: AbortSignal): Promise<protocol.BenchmarkReport | null>;
  /** Rejects with SlipstreamError and keeps the settings in force when the new ones do not work. */
  setSettings(settings: protocol.EngineSettings): Promise<void>;
  dispose(): Promise<void>;
}

/** A place with the documents as the server has them. */
export interface PlaceRequest extends Omit<protocol.SuggestionPlace, 'uri' | 'version'> {
  readonly document: TextDocument;
  readonly openDocuments: readonly TextDocument[];
  readonly notebookCells?: readonly TextDocument[];
}

export interface CompleteRequest extends PlaceRequest {
  /** Takes all text generated so far, after each decoding step. */
  readonly onText: (text: string) => void;
}

export interface AlternativesRequest extends PlaceRequest {
  readonly count: number;
  readonly known: readonly string[];
}

export interface BenchmarkRequest extends Omit<protocol.BenchmarkParams, 'progressToken'> {
  readonly onProgress: (progress: protocol.BenchmarkProgress) => void;
}

export interface EngineOptions {
  readonly settings: protocol.EngineSettings;
  readonly cacheDir: string;
  readonly workspaceFolders: readonly protocol.WorkspaceFolder[];
  readonly log: (level: protocol.LogLevel, message: string) => void;
  readonly onIndexProgress: (progress: protocol.IndexProgress) => void;
  /** The engine left its device for another by itself. */
  readonly onModelChanged: (facts: protocol.ModelFacts) => void;
}

export type CreateEngine = (options: EngineOptions) => Promise<Engine>;
