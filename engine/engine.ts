import { basename } from 'node:path';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { BenchmarkReport } from './benchmark/benchmarkReport.ts';
import { runBenchmark } from './benchmark/runBenchmark.ts';
import {
  type Alternative,
  type AlternativesOptions,
  Completer,
  type Completion,
  type CompletionPlace,
} from './completer.ts';
import { alternativeSampling, alternativesWithinMs, mostThreads } from './config.ts';
import { LastSuggestion } from './draft/lastSuggestion.ts';
import type { WorkspaceText } from './draft/ngramSources.ts';
import { embeddedModelDir } from './embeddedModel.ts';
import { SlipstreamError } from './errors.ts';
import { completionMetrics } from './metrics.ts';
import { ModelRuntime } from './modelRuntime.ts';
import type * as protocol from './protocol.ts';
import type { SamplingSettings } from './sampling/samplingSettings.ts';
import type {
  AlternativesRequest,
  BenchmarkRequest,
  CompleteRequest,
  Engine,
  EngineOptions,
  PlaceRequest,
} from './server/server.ts';
import { availableAlgorithms } from './speculation/availableAlgorithms.ts';
import { openSpeculation, type Speculation } from './speculation/speculation.ts';
import { planSpeculation, type SpeculationPlan } from './speculation/speculationPlan.ts';
import { OpenSyntaxes } from './syntax/openSyntaxes.ts';
import { cellsAround } from './text/notebookCells.ts';
import { RecentDocuments } from './text/recentDocuments.ts';
import type { ContextDocument } from './text/snippets.ts';
import { type SimilarPieces, WorkspaceContext } from './text/workspaceContext.ts';
import { greedyVerifier } from './verify/greedy.ts';
import { documentId } from './workspace/documentId.ts';
import type { TokenArray } from './workspace/hashChain.ts';
import type { Match } from './workspace/matchList.ts';
import { WorkspaceFolders } from './workspace/workspaceFolders.ts';
import { WorkspaceIndex } from './workspace/workspaceIndex.ts';

/** Open documents that may give context. */
const CONTEXT_DOCUMENTS = 20;

/** What answers requests under some settings. Replaced as a whole, so that a completion meanwhile finds either all old or all new. */
interface EngineParts {
  readonly settings: protocol.EngineSettings;
  readonly plan: SpeculationPlan;
  readonly runtime: ModelRuntime;
  readonly index: WorkspaceIndex;
  readonly speculation: Speculation;
  readonly completer: Completer;
  /** What is being suggested with them: they are disposed of when it is done. */
  readonly suggesting: Set<Promise<unknown>>;
}

/** What of them takes time to have. */
interface Loaded extends Pick<EngineParts, 'settings' | 'plan' | 'runtime' | 'speculation'> {
  readonly lastSuggestion: LastSuggestion;
  readonly workspace: BoundIndex;
}

/** The index of the parts that a drafter belongs to: it is opened before they have one. */
class BoundIndex implements WorkspaceText {
  index: WorkspaceIndex | undefined;

  lookup(query: TokenArray): readonly Match[] {
    return this.index?.lookup(query) ?? [];
  }

  documentOf(match: Match): string | undefined {
    return this.index?.documentOf(match);
  }
}

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
  #parts!: EngineParts;
  /** The settings asked for last, in force or not. */
  #wanted!: protocol.EngineSettings;
  /** What was wrong with the device that had to be left. */
  #lostDevice: string | undefined;
  #lastPrompt: string | null = null;
  #changes: Promise<void> = Promise.resolve();
  #benchmarks = false;
  #disposed = false;

  private constructor(options: EngineOptions) {
    this.#options = options;
    this.#folders.set(options.workspaceFolders);
  }

  static async create(options: EngineOptions): Promise<SlipstreamEngine> {
    const engine = new SlipstreamEngine(options);
    engine.#wanted = options.settings;
    engine.#parts = await engine.#adopt(await engine.#load(options.settings, undefined), undefined);
    return engine;
  }

  get facts(): protocol.ModelFacts {
    const { settings, runtime, plan } = this.#parts;
    const deviceNote = this.#lostDevice ?? runtime.deviceNote;
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
    const { outcome, metrics, acceptedFrom } = await this.completeInDetail(request, signal);
    if (outcome.kind !== 'text') return outcome;
    const { text, range } = outcome;
    const { algorithm } = this.#parts.settings;
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
    this.#lastPrompt = completion.prompt.parts.map((part) => part.text).join('');
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

  listAlgorithms(): Promise<readonly protocol.AlgorithmFacts[]> {
    const { settings, runtime } = this.#parts;
    return availableAlgorithms(settings, runtime.dir);
  }

  lastPrompt(): string | null {
    return this.#lastPrompt;
  }

  didAccept(uri: string): void {
    this.#documents.useAgain(uri);
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
    }
  }

  /** One change after the other, so that the last one asked for is the one in force. */
  setSettings(settings: protocol.EngineSettings): Promise<void> {
    this.#wanted = settings;
    const change = this.#changes.then(() => this.#change(settings));
    this.#changes = change.catch(() => {});
    return change;
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    this.#syntaxes.dispose();
    await this.#parts.index.dispose();
    await Promise.allSettled(this.#parts.suggesting);
    await this.#parts.speculation.dispose();
    await this.#parts.runtime.dispose();
  }

  async #change(settings: protocol.EngineSettings): Promise<void> {
    const old = this.#parts;
    const loaded = await this.#load(settings, old);
    if (this.#disposed) return disposeLoaded(loaded, old);
    this.#parts = await this.#adopt(loaded, old);
    await Promise.allSettled(old.suggesting);
    await old.speculation.dispose();
    if (old.index !== this.#parts.index) await old.index.dispose();
    if (old.runtime !== this.#parts.runtime) await old.runtime.dispose();
  }

  async #suggest<T>(document: TextDocument, work: (completer: Completer) => Promise<T>): Promise<T> {
    this.#documents.use(document);
    const { index, completer, suggesting } = this.#parts;
    const release = index.hold();
    const suggestion = work(completer);
    suggesting.add(suggestion);
    try {
      return await suggestion;
    } catch (error) {
      await this.#leaveDevice(error);
      throw error;
    } finally {
      suggesting.delete(suggestion);
      release();
    }
  }

  /** After a fault of the device the CPU goes on, whatever settings follow: no loop of restarts. */
  async #leaveDevice(error: unknown): Promise<void> {
    const lost = error instanceof SlipstreamError && ['device.lost', 'outOfMemory'].includes(error.code);
    if (!lost || this.#parts.runtime.model.info.device === 'cpu') return;
    this.#options.log('warn', `${error.message} The CPU goes on.`);
    this.#lostDevice = error.message;
    try {
      await this.setSettings(this.#wanted);
    } catch (onCpu) {
      this.#options.log('warn', `Neither does the CPU: ${(onCpu as Error).message}`);
      return;
    }
    this.#options.onModelChanged(this.facts);
  }

  /** All that takes time. The parts in force go on answering. */
  async #load(wanted: protocol.EngineSettings, old: EngineParts | undefined): Promise<Loaded> {
    const { cacheDir, log } = this.#options;
    const settings = this.#lostDevice === undefined ? wanted : { ...wanted, device: 'cpu' as const };
    const dir = settings.model ?? embeddedModelDir;
    const plan = await planSpeculation(settings, dir);
    const options = { device: settings.device, cacheDir, threads: mostThreads, log };
    const runtime =
      old && hasSameTarget(old, settings, plan)
        ? old.runtime
        : await ModelRuntime.load(dir, { ...options, ...plan.outputs });
    const lastSuggestion = new LastSuggestion(
      (text) => runtime.tokenizer.encode(text),
      runtime.model.info.vocabSize,
    );
    const workspace = new BoundIndex();
    try {
      const speculation = await openSpeculation(plan, {
        target: runtime,
        workspace,
        lastSuggestion,
        cacheDir,
        threads: runtime.threads,
        log,
      });
      return { settings, plan, runtime, lastSuggestion, workspace, speculation };
    } catch (error) {
      if (runtime !== old?.runtime) await runtime.dispose();
      throw error;
    }
  }

  async #adopt(loaded: Loaded, old: EngineParts | undefined): Promise<EngineParts> {
    try {
      return this.#assemble(loaded, old);
    } catch (error) {
      await disposeLoaded(loaded, old);
      throw error;
    }
  }

  /** @throws SlipstreamError model.corrupt when nobody can tell how the model is asked to fill in the middle */
  #assemble(loaded: Loaded, old: EngineParts | undefined): EngineParts {
    const { settings, plan, runtime, lastSuggestion, workspace, speculation } = loaded;
    const { maxTokens, promptTokens } = settings;
    const completer = new Completer({
      runtime,
      drafter: speculation.drafter,
      controller: speculation.controller,
      verifier: greedyVerifier,
      lastSuggestion,
      workspaceContext: new WorkspaceContext((near) => this.#similar(near)),
      syntaxes: this.#syntaxes,
      maxTokens,
      promptTokens,
    });
    const index = old?.runtime.dir === runtime.dir ? old.index : this.#createIndex(runtime);
    workspace.index = index;
    return { settings, plan, runtime, index, speculation, completer, suggesting: new Set() };
  }

  #createIndex(runtime: ModelRuntime): WorkspaceIndex {
    const { cacheDir, onIndexProgress, log } = this.#options;
    const index = new WorkspaceIndex({
      modelDir: runtime.dir,
      vocabSize: runtime.model.info.vocabSize,
      cacheDir,
      onProgress: onIndexProgress,
      onFolderBuilt: () => this.#parts.completer.workspaceIndexed(),
      log,
    });
    index.setFolders(this.#folders.indexed);
    for (const document of this.#documents) index.documentChanged(document.uri, () => document.getText());
    return index;
  }

  async #similar(near: string): Promise<SimilarPieces> {
    const { texts, rarity } = await this.#parts.index.similar(near);
    const pieces = texts.map(({ path, firstLine, text }) => ({
      id: path,
      path: this.#folders.relativePath(path) ?? basename(path),
      firstLine,
      text,
    }));
    return { pieces, rarity };
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
      path: this.#folders.relativePath(document.uri) ?? basename(documentId(document.uri)),
      text: document.getText(),
    }));
  }

  #readable(acceptedFrom: Completion['acceptedFrom']): Completion['acceptedFrom'] {
    const entries = Object.entries(acceptedFrom);
    return Object.fromEntries(entries.map(([id, count]) => [this.#folders.relativePath(id) ?? id, count]));
  }
}

/** Whether what is loaded serves: the same model on the same device, that hands out the same. */
function hasSameTarget(
  { settings, plan }: EngineParts,
  { model, device }: protocol.EngineSettings,
  { outputs }: SpeculationPlan,
): boolean {
  return (
    settings.model === model &&
    settings.device === device &&
    plan.outputs.taps.join() === outputs.taps.join() &&
    plan.outputs.successors === outputs.successors
  );
}

async function disposeLoaded(
  { speculation, runtime }: Loaded,
  inForce: EngineParts | undefined,
): Promise<void> {
  await speculation.dispose();
  if (runtime !== inForce?.runtime) await runtime.dispose();
}
