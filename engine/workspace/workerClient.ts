import type { Worker } from 'node:worker_threads';
import { SlipstreamError } from '../errors.ts';
import { startWorker } from './startWorker.ts';
import type { CallKind, ReplyMessage, RequestMessage, WorkerCalls, WorkerStart } from './workerProtocol.ts';

/** More are no accident. */
const MAX_CRASHES = 3;

interface Pending {
  resolve(result: never): void;
  reject(error: SlipstreamError): void;
}

/**
 * The index's worker thread, called as functions. Starts with the first call, keeps the process alive only while
 * a call is pending, and starts again after a crash, but not for ever.
 */
export class WorkerClient {
  readonly #start: WorkerStart;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #lastId = 0;
  #crashes = 0;
  #stopped: string | undefined;

  constructor(start: WorkerStart) {
    this.#start = start;
  }

  /**
   * @param transfer buffers inside the request that the worker takes over
   * @throws SlipstreamError internal when the worker failed or was stopped
   */
  async call<Kind extends CallKind>(
    request: WorkerCalls[Kind]['request'] & { readonly kind: Kind },
    transfer: ArrayBuffer[] = [],
  ): Promise<WorkerCalls[Kind]['result']> {
    if (this.#stopped !== undefined) throw new SlipstreamError('internal', this.#stopped);
    const worker = this.#running();
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      worker.ref();
      const message: RequestMessage = { id, request };
      worker.postMessage(message, transfer);
    });
  }

  async dispose(): Promise<void> {
    const worker = this.#worker;
    this.#stopped = 'The index worker was stopped.';
    this.#fail(this.#stopped);
    await worker?.terminate();
  }

  #running(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = startWorker(this.#start);
    this.#worker = worker;
    worker.on('message', (message: ReplyMessage) => this.#settle(message));
    worker.on('error', (cause) => {
      if (++this.#crashes === MAX_CRASHES)
        this.#stopped = 'The index worker crashed again and again; restart the engine.';
      this.#fail(`The index worker crashed: ${cause.message}`, cause, worker);
    });
    worker.on('exit', () => this.#fail('The index worker ended.', undefined, worker));
    worker.unref();
    return worker;
  }

  #settle(message: ReplyMessage): void {
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (this.#pending.size === 0) this.#worker?.unref();
    if ('error' in message) pending?.reject(new SlipstreamError('internal', message.error));
    else pending?.resolve(message.result as never);
  }

  #fail(why: string, cause?: unknown, worker = this.#worker): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(new SlipstreamError('internal', why, { cause }));
  }
}
