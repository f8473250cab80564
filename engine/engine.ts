import { basename } from 'node:path';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { BenchmarkReport } from './benchmark/benchmarkReport.ts';
import { runBenchmark } from './benchmark/runBenchmark.ts';
import type {
  Alternative,
  AlternativesOptions,
  Completer,
  Completion,
  CompletionPlace,
} from './completer.ts';
import { alternativeSampling, alternativesWithinMs } from './config.ts';
import { embeddedModelDir } from './embeddedModel.ts';
import type { EngineParts } from './engineParts.ts';
import { SlipstreamError } from './errors.ts';
import { completionMetrics } from './metrics.ts';
import type { ModelRuntime } from './modelRuntime.ts';
import { PartsInForce } from './partsInForce.ts';
import type * as protocol from './protocol.ts';
import type { SamplingSettings } from './sampling/samplingSettings.ts';
import type {
  AlternativesRequest,
  BenchmarkRequest,
  CompleteRequest,
  Engine,
  EngineOptions,
  PlaceRequest,
} from './server/servedEngine.ts';
import { availableAlgorithms } from './speculation/availableAlgorithms.ts';
import { OpenSyntaxes } from './syntax/openSyntaxes.ts';
import { cellsAround } from './text/notebookCells.ts';
import { promptText } from './text/promptRender.ts';
import { RecentDocuments } from './text/recentDocuments.ts';
import type { ContextDocument } from './text/snippets.ts';
import { documentId, readablePath } from './workspace/documentId.ts';
import { WorkspaceFolders } from './workspace/workspaceFolders.ts';

/** Open documents that may give context. */
const CONTEXT_DOCUMENTS = 20;

/** @throws SlipstreamError when the model or what drafts for it cannot be loaded */
export function createEngine(options: EngineOptions): Promise<SlipstreamEngine> {
  return SlipstreamEngine.create(options);
}

/** Composition root: the model, the workspace index and the drafters behind the requests of an editor. */
export class SlipstreamEngine implements Engine {
  readonly #options: EngineOptions;
  readonly #folders = new WorkspaceFolders();
  readonly #syntaxes = new OpenSyntaxes((message) => this.#options.log('warn', message));
  readonly #documents = new RecentDocuments();
  #inForce!: PartsInForce;
  #lastPrompt: string | null = null;
  #benchmarks = false;

  private constructor(options: EngineOptions) {
    this.#options = options;
    this.#folders.set(options.workspaceFolders);
  }

  static async create(options: EngineOptions): Promise<SlipstreamEngine> {
    const engine = new SlipstreamEngine(options);
    const { cacheDir, log, onIndexProgress, onModelChanged, settings } = options;
    engine.#inForce = await PartsInForce.load(
      {
        cacheDir,
        log,
        onIndexProgress,
        folders: engine.#folders,
        documents: engine.#documents,
        syntaxes: engine.#syntaxes,
        onDeviceLeft: () => onModelChanged(engine.facts),
      },
      settings,
    );
    return engine;
  }

  get #parts(): EngineParts {
    return this.#inForce.now;
  }

  get facts(): protocol.ModelFacts {
    const { settings, runtime, plan } = this.#parts;
    const deviceNote = this.#inForce.lostDevice ?? runtime.deviceNote;
    const { name, device, precision } = runtime.model.info;
    return {
      name,
      device,
      precision,
      algorithm: settings.algorithm,
      ...(deviceNote !== undefined && { deviceNote }),
      ...(plan.note !== undefined && { draftNote: plan.note }),
    };
  }

  get runtime(): ModelRuntime {
    return this.#parts.runtime;
  }

  /** When the workspace is indexed as far as it is known. */
  whenIndexed(): Promise<void> {
    return this.#parts.index.whenIdle();
  }

  async complete(request: CompleteRequest, signal: AbortSignal): Promise<protocol.CompleteResult> {
    if (this.#benchmarks) return { kind: 'empty', reason: 'a benchmark is running' };
    const { algorithm } = this.#parts.settings; // others may be in force when it is done
    const { outcome, metrics, acceptedFrom } = await this.completeInDetail(request, signal);
    if (outcome.kind !== 'text') return outcome;
    const { text, range } = outcome;
    return { kind: 'completion', text, range, metrics: completionMetrics(algorithm, metrics, acceptedFrom) };
  }

  async alternatives(
    request: AlternativesRequest,
    signal: AbortSignal,
  ): Promise<protocol.AlternativesResult> {
    if (this.#benchmarks) return { kind: 'alternatives', suggestions: [] };
    const { count, known } = request;
    const found = await this.alternativesInDetail(request, {
      count,
      known,
      sampling: alternativeSampling,
      withinMs: alternativesWithinMs,
      signal,
    });
    if (signal.aborted) return { kind: 'cancelled' };
    const suggestions = found.map(({ outcome: { text, range } }) => ({ text, range }));
    return { kind: 'alternatives', suggestions };
  }

  /** `complete` with all that the command line and the benchmark show. */
  async completeInDetail(
    { onText, ...place }: CompleteRequest,
    signal: AbortSignal,
    sampling?: SamplingSettings,
  ): Promise<Completion> {
    const completion = await this.#suggest(place.document, (completer) =>
      completer.complete(this.#place(place), { onText, sampling, signal }),
    );
    this.#lastPrompt = promptText(completion.prompt.parts);
    return { ...completion, acceptedFrom: this.#readable(completion.acceptedFrom) };
  }

  /** `alternatives` with all that the command line shows. */
  async alternativesInDetail(request: PlaceRequest, options: AlternativesOptions): Promise<Alternative[]> {
    const found = await this.#suggest(request.document, (completer) =>
      completer.alternatives(this.#place(request), options),
    );
    return found.map((one) => ({ ...one, acceptedFrom: this.#readable(one.acceptedFrom) }));
  }

  /** When `complete` at this place has what the workspace can give to it. For those who ask once; an editor asks again. */
  gatherContext(request: PlaceRequest): Promise<void> {
    return this.#parts.completer.gatherContext(this.#place(request));
  }

  async prepare(request: PlaceRequest, signal: AbortSignal): Promise<number> {
    if (this.#benchmarks) return 0;
    return this.#useCompleter(request.document, (completer) =>
      completer.prepare(this.#place(request), signal),
    );
  }

  listAlgorithms(): Promise<readonly protocol.AlgorithmFacts[]> {
    const { settings, runtime } = this.#parts;
    return availableAlgorithms(settings, runtime.dir);
  }

  lastPrompt(): string | null {
    return this.#lastPrompt;
  }

  documentChanged(document: TextDocument): void {
    this.#documents.use(document);
    this.#parts.index.documentChanged(document.uri, () => document.getText());
  }

  documentClosed(uri: string): void {
    this.#documents.close(uri);
    this.#parts.completer.forget(uri);
    this.#parts.index.documentClosed(uri);
  }

  filesChanged(uris: readonly string[]): void {
    this.#parts.index.filesChanged(uris);
  }

  setFolders(folders: readonly protocol.WorkspaceFolder[]): void {
    this.#folders.set(folders);
    this.#parts.index.setFolders(this.#folders.indexed);
  }

  /** On a model of its own, opened as the settings say; nothing is suggested meanwhile, so that nothing disturbs it. */
  async runBenchmark(request: BenchmarkRequest, signal: AbortSignal): Promise<BenchmarkReport | null> {
    if (this.#benchmarks) throw new SlipstreamError('usage', 'A benchmark is running already.');
    const { model, device, promptTokens, draftModel } = this.#parts.settings;
    const { cacheDir, log } = this.#options;
    const release = this.#parts.index.hold();
    this.#benchmarks = true;
    try {
      const report = await runBenchmark({
        ...request,
        source: { kind: 'workspace', folders: this.#folders.indexed },
        modelDir: model ?? embeddedModelDir,
        device,
        promptTokens,
        // Numbers of steps and tokens are for one algorithm; here each drafts as much as pays.
        speculation: draftModel === undefined ? {} : { draftModel },
        cacheDir,
        log,
        signal,
      });
      return report ?? null;
    } finally {
      this.#benchmarks = false;
      release();
    }
  }

  setSettings(settings: protocol.EngineSettings): Promise<void> {
    return this.#inForce.change(settings);
  }

  async dispose(): Promise<void> {
    await this.#inForce.dispose();
    this.#syntaxes.dispose(); // a suggestion under way asks it when it is written
  }

  /** Somebody waits for it: the index rests meanwhile. */
  async #suggest<T>(document: TextDocument, work: (completer: Completer) => Promise<T>): Promise<T> {
    const release = this.#parts.index.hold();
    try {
      return await this.#useCompleter(document, work);
    } finally {
      release();
    }
  }

  async #useCompleter<T>(document: TextDocument, work: (completer: Completer) => Promise<T>): Promise<T> {
    this.#documents.use(document);
    const { runtime, completer, suggesting } = this.#parts;
    const suggestion = work(completer);
    suggesting.add(suggestion);
    try {
      return await suggestion;
    } catch (error) {
      await this.#inForce.leaveDevice(runtime, error);
      throw error;
    } finally {
      suggesting.delete(suggestion);
    }
  }

  #place(request: PlaceRequest): CompletionPlace {
    const { document, position, selectedSuggestion, indentation, notebookCells, openDocuments } = request;
    const folder = this.#folders.of(document.uri);
    const isElsewhere = (other: TextDocument) =>
      other.uri !== document.uri && !notebookCells?.includes(other);
    return {
      document,
      position,
      selectedSuggestion,
      indentation,
      path: this.#folders.relativePath(document.uri),
      repo: folder?.name,
      around: notebookCells && cellsAround(document, notebookCells),
      context: this.#context(openDocuments.filter(isElsewhere)),
    };
  }

  #context(open: readonly TextDocument[]): ContextDocument[] {
    return this.#documents.mostRecent(open, CONTEXT_DOCUMENTS).map((document) => ({
      id: documentId(document.uri),
      version: document.version,
      path: this.#folders.relativePath(document.uri) ?? basename(readablePath(document.uri)),
      text: document.getText(),
    }));
  }

  #readable(acceptedFrom: Completion['acceptedFrom']): Completion['acceptedFrom'] {
    const counts: Record<string, number> = {};
    // Files of several folders may have the same path.
    for (const [id, count] of Object.entries(acceptedFrom)) {
      const path = this.#folders.relativePath(id) ?? id;
      counts[path] = (counts[path] ?? 0) + count;
    }
    return counts;
  }
}
