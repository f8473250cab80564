import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { BenchmarkReport } from './benchmark/benchmarkReport.ts';
import { runBenchmark } from './benchmark/runBenchmark.ts';
import { Completer, type Completion, type CompletionPlace } from './completer.ts';
import { mostThreads } from './config.ts';
import { createController, createDrafter } from './draft/createDrafter.ts';
import { LastSuggestion } from './draft/lastSuggestion.ts';
import { embeddedModelDir } from './embeddedModel.ts';
import { SlipstreamError } from './errors.ts';
import { completionMetrics } from './metrics.ts';
import { ModelRuntime } from './modelRuntime.ts';
import type * as protocol from './protocol.ts';
import type { BenchmarkRequest, CompleteRequest, Engine, EngineOptions } from './server/server.ts';
import type { ContextDocument } from './text/snippets.ts';
import { type SimilarPieces, WorkspaceContext } from './text/workspaceContext.ts';
import { greedyVerifier } from './verify/greedy.ts';
import { documentId } from './workspace/documentId.ts';
import { WorkspaceFolders } from './workspace/workspaceFolders.ts';
import { WorkspaceIndex } from './workspace/workspaceIndex.ts';

/** Open documents that may give context, the most recently used first. */
const CONTEXT_DOCUMENTS = 20;

/** @throws SlipstreamError when the model cannot be loaded */
export async function createEngine(options: EngineOptions): Promise<SlipstreamEngine> {
  const runtime = await loadRuntime(options.settings, options);
  return new SlipstreamEngine(runtime, options);
}

function loadRuntime({ model, device }: protocol.EngineSettings, { cacheDir, log }: EngineOptions) {
  const dir = model ?? embeddedModelDir;
  return ModelRuntime.load(dir, { device, cacheDir, threads: mostThreads, log });
}

/** Composition root: the model, the workspace index and the drafters behind the requests of an editor. */
export class SlipstreamEngine implements Engine {
  readonly #options: EngineOptions;
  readonly #folders = new WorkspaceFolders();
  /** Open documents by URI, the most recently used last. */
  readonly #open = new Map<string, TextDocument>();
  #settings: protocol.EngineSettings;
  #runtime: ModelRuntime;
  #index: WorkspaceIndex;
  #completer: Completer;
  #lastPrompt: string | null = null;
  #changes: Promise<void> = Promise.resolve();
  #benchmarks = false;
  #disposed = false;

  constructor(runtime: ModelRuntime, options: EngineOptions) {
    this.#options = options;
    this.#settings = options.settings;
    this.#runtime = runtime;
    this.#folders.set(options.workspaceFolders);
    this.#index = this.#createIndex();
    this.#completer = this.#createCompleter();
  }

  get facts(): protocol.ModelFacts {
    const { model, deviceNote } = this.#runtime;
    const { name, device, precision } = model.info;
    return { name, device, precision, ...(deviceNote !== undefined && { deviceNote }) };
  }

  get runtime(): ModelRuntime {
    return this.#runtime;
  }

  /** When the workspace is indexed as far as it is known. */
  whenIndexed(): Promise<void> {
    return this.#index.whenIdle();
  }

  async complete(request: CompleteRequest, signal: AbortSignal): Promise<protocol.CompleteResult> {
    if (this.#benchmarks) return { kind: 'empty', reason: 'a benchmark is running' };
    const { outcome, metrics, acceptedFrom } = await this.completeInDetail(request, signal);
    if (outcome.kind !== 'text') return outcome;
    const { text, range } = outcome;
    const { algorithm } = this.#settings;
    return { kind: 'completion', text, range, metrics: completionMetrics(algorithm, metrics, acceptedFrom) };
  }

  /** `complete` with all that the command line and the benchmark show. */
  async completeInDetail(request: CompleteRequest, signal: AbortSignal): Promise<Completion> {
    this.#touch(request.document);
    const release = this.#index.hold();
    try {
      const { onText } = request;
      const completion = await this.#completer.complete(this.#place(request), { onText, signal });
      this.#lastPrompt = completion.prompt.parts.map((part) => part.text).join('');
      return { ...completion, acceptedFrom: this.#readable(completion.acceptedFrom) };
    } catch (error) {
      await this.#leaveDevice(error);
      throw error;
    } finally {
      release();
    }
  }

  /** When `complete` at this place has what the workspace can give to it. For those who ask once; an editor asks again. */
  gatherContext(request: CompleteRequest): Promise<void> {
    return this.#completer.gatherContext(this.#place(request));
  }

  lastPrompt(): string | null {
    return this.#lastPrompt;
  }

  didAccept(uri: string): void {
    const document = this.#open.get(uri);
    if (document) this.#touch(document);
  }

  documentChanged(document: TextDocument): void {
    this.#touch(document);
    this.#index.documentChanged(document.uri, () => document.getText());
  }

  documentClosed(uri: string): void {
    this.#open.delete(uri);
    this.#completer.forget(uri);
    this.#index.documentClosed(uri);
  }

  filesChanged(changes: readonly protocol.FileChange[]): void {
    this.#index.filesChanged(changes.map(({ uri }) => uri));
  }

  setFolders(folders: readonly protocol.WorkspaceFolder[]): void {
    this.#folders.set(folders);
    this.#index.setFolders(this.#folders.indexed);
  }

  /** On a model of its own, opened as the settings say; nothing is suggested meanwhile, so that nothing disturbs it. */
  async runBenchmark(request: BenchmarkRequest, signal: AbortSignal): Promise<BenchmarkReport | null> {
    if (this.#benchmarks) throw new SlipstreamError('usage', 'A benchmark is running already.');
    const { model, device, promptTokens } = this.#settings;
    const { cacheDir, log } = this.#options;
    this.#benchmarks = true;
    try {
      const report = await runBenchmark({
        ...request,
        source: { kind: 'workspace', folders: this.#folders.indexed },
        modelDir: model ?? embeddedModelDir,
        device,
        promptTokens,
        speculation: {},
        cacheDir,
        log,
        signal,
      });
      return report ?? null;
    } finally {
      this.#benchmarks = false;
    }
  }

  /** One change after the other, so that the last one asked for is the one in force. */
  setSettings(settings: protocol.EngineSettings): Promise<void> {
    const change = this.#changes.then(() => this.#change(settings));
    this.#changes = change.catch(() => {});
    return change;
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    await this.#index.dispose();
    await this.#runtime.dispose();
  }

  async #change(settings: protocol.EngineSettings): Promise<void> {
    const { model, device } = this.#settings;
    const sameRuntime = settings.model === model && settings.device === device;
    await this.#apply(settings, sameRuntime ? this.#runtime : await loadRuntime(settings, this.#options));
  }

  /** After a fault of the device the CPU goes on, once and for all: no loop of restarts. */
  async #leaveDevice(error: unknown): Promise<void> {
    const lost = error instanceof SlipstreamError && ['device.lost', 'outOfMemory'].includes(error.code);
    if (!lost || this.#runtime.model.info.device === 'cpu') return;
    this.#options.log('warn', `${error.message} The CPU goes on.`);
    await this.setSettings({ ...this.#settings, device: 'cpu' });
    this.#options.onModelChanged({ ...this.facts, deviceNote: error.message });
  }

  /** Nothing is awaited before all is in place: a completion meanwhile finds either the old parts or the new ones. */
  async #apply(settings: protocol.EngineSettings, runtime: ModelRuntime): Promise<void> {
    const [oldRuntime, oldIndex] = [this.#runtime, this.#index];
    if (this.#disposed) {
      if (runtime !== oldRuntime) await runtime.dispose();
      return;
    }
    this.#settings = settings;
    this.#runtime = runtime;
    if (oldRuntime.dir !== runtime.dir) {
      this.#index = this.#createIndex();
    }
    this.#completer = this.#createCompleter();
    if (oldIndex !== this.#index) await oldIndex.dispose();
    if (oldRuntime !== runtime) await oldRuntime.dispose();
  }

  #createIndex(): WorkspaceIndex {
    const { cacheDir, onIndexProgress, log } = this.#options;
    const index = new WorkspaceIndex({
      modelDir: this.#runtime.dir,
      vocabSize: this.#runtime.model.info.vocabSize,
      cacheDir,
      onProgress: onIndexProgress,
      log,
    });
    index.setFolders(this.#folders.indexed);
    for (const document of this.#open.values()) index.documentChanged(document.uri, () => document.getText());
    return index;
  }

  #createCompleter(): Completer {
    const { tokenizer, costTable, model } = this.#runtime;
    const { vocabSize } = model.info;
    const lastSuggestion = new LastSuggestion((text) => tokenizer.encode(text), vocabSize);
    const { specialTokenIds } = tokenizer;
    const drafter = createDrafter(this.#settings, {
      vocabSize,
      specialTokenIds,
      workspace: this.#index,
      lastSuggestion,
    });
    const controller = createController(this.#settings, costTable);
    const { maxTokens, promptTokens } = this.#settings;
    return new Completer({
      runtime: this.#runtime,
      drafter,
      controller,
      verifier: greedyVerifier,
      lastSuggestion,
      workspaceContext: new WorkspaceContext((near) => this.#similar(near)),
      maxTokens,
      promptTokens,
    });
  }

  async #similar(near: string): Promise<SimilarPieces> {
    const { texts, rarity } = await this.#index.similar(near);
    const pieces = texts.map(({ path, firstLine, text }) => ({
      uri: pathToFileURL(path).href,
      path: this.#folders.relativePath(path) ?? basename(path),
      firstLine,
      text,
    }));
    return { pieces, rarity };
  }

  #place(request: CompleteRequest): CompletionPlace {
    const { document, position, selectedSuggestion, indentation, notebookCells, openDocuments } = request;
    const folder = this.#folders.of(document.uri);
    return {
      document,
      position,
      selectedSuggestion,
      indentation,
      path: this.#folders.relativePath(document.uri),
      repo: folder?.name,
      around: notebookCells && around(document, notebookCells),
      context: this.#context(document, notebookCells ?? [], openDocuments),
    };
  }

  #context(
    document: TextDocument,
    cells: readonly TextDocument[],
    open: readonly TextDocument[],
  ): ContextDocument[] {
    const byRecency = [...this.#open.keys()].reverse();
    return open
      .filter((other) => other.uri !== document.uri && !cells.includes(other))
      .sort((a, b) => byRecency.indexOf(a.uri) - byRecency.indexOf(b.uri))
      .slice(0, CONTEXT_DOCUMENTS)
      .map((other) => ({
        uri: other.uri,
        version: other.version,
        path: this.#folders.relativePath(other.uri) ?? basename(documentId(other.uri)),
        text: other.getText(),
      }));
  }

  #readable(acceptedFrom: Completion['acceptedFrom']): Completion['acceptedFrom'] {
    const entries = Object.entries(acceptedFrom);
    return Object.fromEntries(entries.map(([id, count]) => [this.#folders.relativePath(id) ?? id, count]));
  }

  #touch(document: TextDocument): void {
    this.#open.delete(document.uri);
    this.#open.set(document.uri, document);
  }
}

function around(document: TextDocument, cells: readonly TextDocument[]) {
  const index = cells.indexOf(document);
  const join = (some: readonly TextDocument[]) => some.map((cell) => cell.getText()).join('\n\n');
  const before = join(cells.slice(0, index));
  const after = join(cells.slice(index + 1));
  return { before: before && `${before}\n\n`, after: after && `\n\n${after}` };
}
