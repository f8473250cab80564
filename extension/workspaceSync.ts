import * as vscode from 'vscode';
import type { WorkspaceFolder } from '../engine/protocol.ts';
import { isCompletable } from './completableDocument.ts';
import type { EngineClient } from './engineClient.ts';

/** A checkout touches thousands of files within moments: they travel together. */
const fileBatchMs = 200;

/** Keeps one engine's view of open documents, files and folders in step, from `attach` until the next one. */
export class WorkspaceSync implements vscode.Disposable {
  #engine: EngineClient | undefined;
  /** Which version of each document the engine has. */
  readonly #versions = new Map<string, number>();
  readonly #changedFiles = new Set<string>();
  #fileTimer: NodeJS.Timeout | undefined;
  #subscriptions: vscode.Disposable | undefined;

  /** Sends everything to a fresh engine, then what changes. One that is attached already has it all. */
  attach(engine: EngineClient): void {
    if (engine === this.#engine) return;
    this.detach();
    this.#engine = engine;
    this.#subscriptions = this.#listen();
    this.#changeFolders(); // they may have changed since it was started with them
    for (const document of vscode.workspace.textDocuments) this.open(document);
  }

  detach(): void {
    this.#subscriptions?.dispose();
    clearTimeout(this.#fileTimer);
    this.#fileTimer = undefined;
    this.#engine = undefined;
    this.#versions.clear();
    this.#changedFiles.clear();
  }

  dispose(): void {
    this.detach();
  }

  /** Sends the whole document, also when the engine has another version of it. */
  open(document: vscode.TextDocument): void {
    if (!this.#engine || !isCompletable(document)) return;
    const uri = document.uri.toString();
    const notebook = notebookOf(document);
    this.#versions.set(uri, document.version);
    this.#engine.didOpen({
      uri,
      languageId: document.languageId,
      version: document.version,
      text: document.getText(),
      ...(notebook && { notebook }),
    });
  }

  #listen(): vscode.Disposable {
    const { workspace } = vscode;
    const watcher = workspace.createFileSystemWatcher('**/*');
    return vscode.Disposable.from(
      workspace.onDidOpenTextDocument((document) => this.open(document)),
      workspace.onDidCloseTextDocument((document) => this.#close(document)),
      workspace.onDidChangeTextDocument((event) => this.#change(event)),
      workspace.onDidChangeNotebookDocument((event) => this.#changeCells(event)),
      workspace.onDidChangeWorkspaceFolders(() => this.#changeFolders()),
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('files.exclude')) this.#changeFolders();
      }),
      watcher,
      watcher.onDidCreate((uri) => this.#changeFile(uri)),
      watcher.onDidChange((uri) => this.#changeFile(uri)),
      watcher.onDidDelete((uri) => this.#changeFile(uri)),
    );
  }

  #close(document: vscode.TextDocument): void {
    const uri = document.uri.toString();
    if (this.#versions.delete(uri)) this.#engine?.didClose(uri);
  }

  #change({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const uri = document.uri.toString();
    const baseVersion = this.#versions.get(uri);
    if (baseVersion === undefined || contentChanges.length === 0) return;
    if (!isCompletable(document)) {
      this.#close(document);
      return;
    }
    this.#versions.set(uri, document.version);
    this.#engine?.didChange({
      uri,
      baseVersion,
      version: document.version,
      changes: contentChanges.map(({ range, text }) => ({ range: plainRange(range), text })),
    });
  }

  /** Cells that moved have another place in the notebook. */
  #changeCells({ notebook, contentChanges }: vscode.NotebookDocumentChangeEvent): void {
    if (contentChanges.length === 0) return;
    for (const cell of notebook.getCells()) this.open(cell.document);
  }

  #changeFolders(): void {
    this.#engine?.didChangeFolders(workspaceFolders());
  }

  #changeFile(uri: vscode.Uri): void {
    if (uri.path.includes('/.git/')) return;
    this.#changedFiles.add(uri.toString());
    this.#fileTimer ??= setTimeout(() => this.#sendFileChanges(), fileBatchMs);
  }

  #sendFileChanges(): void {
    this.#fileTimer = undefined;
    this.#engine?.didChangeFiles([...this.#changedFiles]);
    this.#changedFiles.clear();
  }
}

export function workspaceFolders(): readonly WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).map(({ uri, name }) => ({
    uri: uri.toString(),
    name,
    exclude: excludedGlobs(uri),
  }));
}

function excludedGlobs(folder: vscode.Uri): readonly string[] {
  const globs = vscode.workspace
    .getConfiguration('files', folder)
    .get<Record<string, unknown>>('exclude', {});
  return Object.keys(globs).filter((glob) => globs[glob] === true);
}

function notebookOf(document: vscode.TextDocument): { uri: string; cell: number } | undefined {
  if (document.uri.scheme !== 'vscode-notebook-cell') return undefined;
  for (const notebook of vscode.workspace.notebookDocuments) {
    const cell = notebook.getCells().findIndex((candidate) => candidate.document === document);
    if (cell >= 0) return { uri: notebook.uri.toString(), cell };
  }
  return undefined;
}

/** A vscode.Range would travel as an array. */
function plainRange({ start, end }: vscode.Range) {
  return {
    start: { line: start.line, character: start.character },
    end: { line: end.line, character: end.character },
  };
}
