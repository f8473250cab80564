import {
  CancellationTokenSource,
  createMessageConnection,
  type MessageConnection,
  type MessageReader,
  type MessageWriter,
  type NotificationType,
  type RequestType,
  ResponseError,
} from 'vscode-jsonrpc/node';
import type * as protocol from '../engine/protocol.ts';
import * as methods from '../engine/protocolMethods.ts';
import { EngineFault, EngineGone } from './engineErrors.ts';

export interface EngineListener {
  onLog(level: protocol.LogLevel, message: string): void;
  onIndexProgress(progress: protocol.IndexProgress): void;
  onModelChanged(model: protocol.ModelFacts): void;
}

/** Typed calls to one engine. A request ends with its answer, an EngineFault or EngineGone, never with nothing. */
export class EngineClient {
  readonly #connection: MessageConnection;
  readonly #pending = new Set<(error: Error) => void>();
  #isClosed = false;
  #progressToken = 0;

  constructor(reader: MessageReader, writer: MessageWriter, listener: EngineListener) {
    this.#connection = createMessageConnection(reader, writer, {
      error: (message) => listener.onLog('error', message),
      warn: (message) => listener.onLog('warn', message),
      info: (message) => listener.onLog('info', message),
      log: (message) => listener.onLog('debug', message),
    });
    this.#connection.onNotification(methods.log, ({ level, message }) => listener.onLog(level, message));
    this.#connection.onNotification(methods.indexProgress, (progress) => listener.onIndexProgress(progress));
    this.#connection.onNotification(methods.modelChanged, (model) => listener.onModelChanged(model));
    this.#connection.onClose(() => this.close());
    this.#connection.listen();
  }

  initialize(params: protocol.InitializeParams): Promise<protocol.InitializeResult> {
    return this.#request(() => this.#connection.sendRequest(methods.initialize, params));
  }

  changeSettings(settings: protocol.EngineSettings): Promise<protocol.ModelFacts> {
    return this.#request(() => this.#connection.sendRequest(methods.changeSettings, settings));
  }

  lastPrompt(): Promise<string | null> {
    return this.#request(() => this.#connection.sendRequest(methods.lastPrompt));
  }

  listAlgorithms(): Promise<readonly protocol.AlgorithmFacts[]> {
    return this.#request(() => this.#connection.sendRequest(methods.listAlgorithms));
  }

  shutdown(): Promise<null> {
    return this.#request(() => this.#connection.sendRequest(methods.shutdown));
  }

  /** @param onPartialText takes all text generated so far, as it grows */
  async complete(
    params: Omit<protocol.CompleteParams, 'partialTextToken'>,
    onPartialText: (text: string) => void,
    cancelled: AbortSignal,
  ): Promise<protocol.CompleteResult> {
    const partialTextToken = this.#progressToken++;
    const progress = this.#connection.onProgress(methods.partialText, partialTextToken, onPartialText);
    try {
      return await this.#suggest(methods.complete, { ...params, partialTextToken }, cancelled);
    } finally {
      progress.dispose();
    }
  }

  alternatives(
    params: protocol.AlternativesParams,
    cancelled: AbortSignal,
  ): Promise<protocol.AlternativesResult> {
    return this.#suggest(methods.alternatives, params, cancelled);
  }

  /** @returns what was measured when it was cancelled; null when that is nothing */
  async runBenchmark(
    params: Omit<protocol.BenchmarkParams, 'progressToken'>,
    onProgress: (progress: protocol.BenchmarkProgress) => void,
    cancelled: AbortSignal,
  ): Promise<protocol.BenchmarkReport | null> {
    if (cancelled.aborted) return null;
    const progressToken = this.#progressToken++;
    const progress = this.#connection.onProgress(methods.benchmarkProgress, progressToken, onProgress);
    try {
      return await this.#cancellable(methods.runBenchmark, { ...params, progressToken }, cancelled);
    } finally {
      progress.dispose();
    }
  }

  prepare(place: protocol.SuggestionPlace): void {
    this.#notify(methods.prepare, place);
  }

  didOpen(document: protocol.OpenDocument): void {
    this.#notify(methods.didOpen, document);
  }

  didChange(change: protocol.DocumentChange): void {
    this.#notify(methods.didChange, change);
  }

  didClose(uri: string): void {
    this.#notify(methods.didClose, { uri });
  }

  didChangeFiles(uris: readonly string[]): void {
    this.#notify(methods.didChangeFiles, { uris });
  }

  didChangeFolders(folders: readonly protocol.WorkspaceFolder[]): void {
    this.#notify(methods.didChangeFolders, { folders });
  }

  /** Settles what is still waiting; later calls find the engine gone. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const reject of this.#pending) reject(new EngineGone());
    this.#connection.dispose();
  }

  /** An engine that goes away has cancelled what it was writing. */
  async #suggest<P, R>(
    type: RequestType<P, R, protocol.FaultData>,
    params: P,
    cancelled: AbortSignal,
  ): Promise<R | { kind: 'cancelled' }> {
    if (cancelled.aborted) return { kind: 'cancelled' };
    try {
      return await this.#cancellable(type, params, cancelled);
    } catch (error) {
      if (error instanceof EngineGone) return { kind: 'cancelled' };
      throw error;
    }
  }

  async #cancellable<P, R>(
    type: RequestType<P, R, protocol.FaultData>,
    params: P,
    cancelled: AbortSignal,
  ): Promise<R> {
    const source = new CancellationTokenSource();
    const cancel = () => source.cancel();
    cancelled.addEventListener('abort', cancel, { once: true });
    try {
      return await this.#request(() => this.#connection.sendRequest<R>(type.method, params, source.token));
    } finally {
      cancelled.removeEventListener('abort', cancel);
      source.dispose();
    }
  }

  #request<R>(send: () => Promise<R>): Promise<R> {
    if (this.#isClosed) return Promise.reject(new EngineGone());
    return new Promise<R>((resolve, reject) => {
      this.#pending.add(reject);
      send()
        .then(resolve, (error) => reject(toFault(error)))
        .finally(() => this.#pending.delete(reject));
    });
  }

  /** A notification to an engine that is going away is lost with it; its exit is seen elsewhere. */
  #notify<P>(type: NotificationType<P>, params: P): void {
    if (!this.#isClosed) this.#connection.sendNotification(type.method, params).catch(() => {});
  }
}

function toFault(error: unknown): unknown {
  if (!(error instanceof ResponseError) || typeof error.data?.code !== 'string') return error;
  return new EngineFault(error.data.code, error.message);
}
