import {
  type CancellationToken,
  createMessageConnection,
  type Disposable,
  ErrorCodes,
  type MessageConnection,
  type NotificationType,
  type RequestType,
  type RequestType0,
  ResponseError,
} from 'vscode-jsonrpc/node';
import { SlipstreamError } from '../errors.ts';
import type * as protocol from '../protocol.ts';
import * as methods from '../protocolMethods.ts';
import { Documents } from './documents.ts';
import type { Parse } from './parse.ts';
import * as requests from './requests.ts';
import type { CreateEngine, Engine } from './servedEngine.ts';
import type { Transport } from './transport.ts';

/** Serves one editor: parses what it asks, passes it to the engine, maps errors. */
export class Server {
  readonly #connection: MessageConnection;
  readonly #documents = new Documents();
  readonly #createEngine: CreateEngine;
  #engine: Engine | undefined;
  #initializing = false;
  /** The suggestion under way: at most one, a newer one aborts it. */
  #running: AbortController | undefined;
  /** What is done ahead of the next one: every suggestion aborts it. */
  #preparing: AbortController | undefined;
  /** Aborted when the editor has asked for the end. */
  readonly #ending = new AbortController();

  constructor(transport: Transport, createEngine: CreateEngine) {
    this.#createEngine = createEngine;
    this.#connection = createMessageConnection(transport.reader, transport.writer, {
      error: (message) => this.#log('error', message),
      warn: (message) => this.#log('warn', message),
      info: (message) => this.#log('info', message),
      log: (message) => this.#log('debug', message),
    });
    this.#handleRequests();
    this.#handleNotifications();
  }

  /** @returns when the editor has asked for the end and the engine is disposed */
  listen(): Promise<void> {
    return new Promise((resolve) => {
      this.#connection.onRequest(methods.shutdown, async () => {
        this.#running?.abort();
        this.#preparing?.abort();
        this.#ending.abort();
        await this.#engine?.dispose();
        // The answer is written before the process may end.
        setImmediate(resolve);
        return null;
      });
      this.#connection.listen();
    });
  }

  #handleRequests(): void {
    this.#onRequest(methods.initialize, requests.initializeParams, (params) => this.#initialize(params));
    this.#onRequest(methods.complete, requests.completeParams, (params, signal) =>
      this.#complete(params, signal),
    );
    this.#onRequest(methods.alternatives, requests.alternativesParams, (params, signal) =>
      this.#alternatives(params, signal),
    );
    this.#onRequest(methods.changeSettings, requests.engineSettings, async (settings) => {
      const engine = this.#ready();
      this.#preparing?.abort(); // other settings would wait for it, and the editor asks for it again under them
      await engine.setSettings(settings);
      return engine.facts;
    });
    this.#onRequest(methods.runBenchmark, requests.benchmarkParams, (params, signal) =>
      this.#runBenchmark(params, signal),
    );
    this.#onBareRequest(methods.listAlgorithms, () => this.#ready().listAlgorithms());
    this.#onBareRequest(methods.lastPrompt, async () => this.#ready().lastPrompt());
  }

  #handleNotifications(): void {
    this.#onNotification(methods.didOpen, requests.openDocument, (opened, engine) => {
      engine.documentChanged(this.#documents.open(opened));
    });
    this.#onNotification(methods.didChange, requests.documentChange, (change, engine) => {
      const document = this.#documents.change(change);
      if (document) engine.documentChanged(document);
      else engine.documentClosed(change.uri);
    });
    this.#onNotification(methods.didClose, requests.documentUri, ({ uri }, engine) => {
      if (this.#documents.close(uri)) engine.documentClosed(uri);
    });
    this.#onNotification(methods.prepare, requests.suggestionPlace, (place, engine) => {
      void this.#prepare(place, engine);
    });
    this.#onNotification(methods.didChangeFiles, requests.files, ({ uris }, engine) =>
      engine.filesChanged(uris),
    );
    this.#onNotification(methods.didChangeFolders, requests.folders, ({ folders }, engine) =>
      engine.setFolders(folders),
    );
  }

  async #initialize(params: protocol.InitializeParams): Promise<protocol.InitializeResult> {
    if (this.#initializing) throw new SlipstreamError('usage', 'initialize was sent twice');
    this.#initializing = true;
    this.#engine = await this.#createEngine({
      ...params,
      log: (level, message) => this.#log(level, message),
      onIndexProgress: (progress) => this.#send(methods.indexProgress, progress),
      onModelChanged: (facts) => this.#send(methods.modelChanged, facts),
    });
    return { model: this.#engine.facts };
  }

  async #complete(
    { partialTextToken, ...params }: protocol.CompleteParams,
    cancelled: AbortSignal,
  ): Promise<protocol.CompleteResult> {
    const engine = this.#ready();
    const request = this.#withDocuments(params);
    if (!request) return { kind: 'outOfSync' };
    const onText = (text: string) =>
      void this.#connection.sendProgress(methods.partialText, partialTextToken, text).catch(editorIsGone);
    return engine.complete({ ...request, onText }, this.#takeTurn(cancelled));
  }

  async #alternatives(
    params: protocol.AlternativesParams,
    cancelled: AbortSignal,
  ): Promise<protocol.AlternativesResult> {
    const engine = this.#ready();
    const request = this.#withDocuments(params);
    return request ? engine.alternatives(request, this.#takeTurn(cancelled)) : { kind: 'outOfSync' };
  }

  /** Nobody waits for it: what goes wrong is in the log, and goes wrong again when it is asked for. */
  async #prepare(place: protocol.SuggestionPlace, engine: Engine): Promise<void> {
    this.#preparing?.abort();
    this.#preparing = new AbortController();
    const request = this.#withDocuments(place);
    if (!request) return;
    try {
      const tokens = await engine.prepare(request, this.#preparing.signal);
      if (tokens > 0) this.#log('debug', `${tokens} tokens of the prompt evaluated ahead`);
    } catch (error) {
      this.#log('error', `${methods.prepare.method}: ${describe(error)}`);
    }
  }

  /** Undefined when this version of the document is not here. */
  #withDocuments<P extends protocol.SuggestionPlace>({ uri, version, ...rest }: P) {
    const document = this.#documents.get(uri, version);
    if (!document) return undefined;
    const notebookCells = this.#documents.notebookCells(uri);
    return {
      ...rest,
      document,
      openDocuments: this.#documents.all(),
      ...(notebookCells && { notebookCells }),
    };
  }

  /** Ends what is being written for an earlier request. @returns the signal of the new one */
  #takeTurn(cancelled: AbortSignal): AbortSignal {
    this.#running?.abort();
    this.#preparing?.abort();
    this.#running = new AbortController();
    return AbortSignal.any([cancelled, this.#running.signal]);
  }

  #runBenchmark(
    { progressToken, ...request }: protocol.BenchmarkParams,
    cancelled: AbortSignal,
  ): Promise<protocol.BenchmarkReport | null> {
    const engine = this.#ready();
    this.#running?.abort();
    this.#preparing?.abort();
    return engine.runBenchmark(
      {
        ...request,
        onProgress: (progress) =>
          void this.#connection
            .sendProgress(methods.benchmarkProgress, progressToken, progress)
            .catch(editorIsGone),
      },
      AbortSignal.any([cancelled, this.#ending.signal]),
    );
  }

  #ready(): Engine {
    if (this.#engine) return this.#engine;
    throw new SlipstreamError('usage', 'the engine is not ready: wait for the answer to initialize');
  }

  #onRequest<P, R>(
    type: RequestType<P, R, protocol.FaultData>,
    parse: Parse<P>,
    handle: (params: P, signal: AbortSignal) => Promise<R>,
  ): void {
    this.#connection.onRequest(
      type.method,
      async (raw: unknown, token: CancellationToken): Promise<unknown> => {
        const aborted = new AbortController();
        if (token.isCancellationRequested) aborted.abort();
        const subscription: Disposable = token.onCancellationRequested(() => aborted.abort());
        try {
          return await this.#answer(() => handle(parse(raw, type.method), aborted.signal));
        } finally {
          subscription.dispose();
        }
      },
    );
  }

  #onBareRequest<R>(type: RequestType0<R, protocol.FaultData>, handle: () => Promise<R>): void {
    this.#connection.onRequest(type.method, () => this.#answer(handle));
  }

  /** Faults travel with their code. */
  async #answer(handle: () => Promise<unknown>): Promise<unknown> {
    try {
      return await handle();
    } catch (error) {
      throw this.#toResponseError(error);
    }
  }

  #onNotification<P>(
    type: NotificationType<P>,
    parse: Parse<P>,
    handle: (params: P, engine: Engine) => void,
  ): void {
    this.#connection.onNotification(type.method, (raw: unknown) => {
      try {
        handle(parse(raw, type.method), this.#ready());
      } catch (error) {
        this.#log('error', `${type.method}: ${describe(error)}`);
      }
    });
  }

  #toResponseError(error: unknown): ResponseError<protocol.FaultData> {
    if (error instanceof SlipstreamError) {
      if (error.cause) this.#log('error', describe(error));
      const code = error.code === 'usage' ? ErrorCodes.InvalidParams : ErrorCodes.InternalError;
      return new ResponseError(code, error.message, { code: error.code });
    }
    this.#log('error', describe(error));
    return new ResponseError(ErrorCodes.InternalError, messageOf(error), { code: 'internal' });
  }

  #log(level: protocol.LogLevel, message: string): void {
    this.#send(methods.log, { level, message });
  }

  #send<P>(type: NotificationType<P>, params: P): void {
    this.#connection.sendNotification(type.method, params).catch(editorIsGone);
  }
}

/** Sending fails for no other reason, and the process is about to end (parentWatch.ts). */
const editorIsGone = () => {};

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** With the stack and the causes: for the log. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\ncaused by: ${describe(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
