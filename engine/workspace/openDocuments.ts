import type { NgramIndex } from './ngramIndex.ts';
import { isMinified, MAX_FILE_BYTES } from './textFile.ts';
import type { WorkerClient } from './workerClient.ts';

/** A document is indexed again when typing has paused for as long. */
const PAUSE_MS = 500;

/** An edit gives back more room than a document takes. */
const COMPACT_TOKENS = 8192;

interface OpenDocument {
  getText: () => string;
  timer: NodeJS.Timeout | undefined;
}

/** Keeps the editor's text of open documents, saved or not, in the index in place of their files. */
export class OpenDocuments {
  readonly #ngrams: NgramIndex;
  readonly #worker: WorkerClient;
  readonly #documents = new Map<string, OpenDocument>(); // by id

  constructor(ngrams: NgramIndex, worker: WorkerClient) {
    this.#ngrams = ngrams;
    this.#worker = worker;
  }

  has(id: string): boolean {
    return this.#documents.has(id);
  }

  /** @param onError of the tokenization that follows after a pause */
  changed(id: string, getText: () => string, onError: (error: unknown) => void): void {
    const document = this.#documents.get(id) ?? { getText, timer: undefined };
    document.getText = getText;
    clearTimeout(document.timer);
    document.timer = setTimeout(() => this.#index(id, document).catch(onError), PAUSE_MS);
    document.timer.unref();
    this.#documents.set(id, document);
  }

  /** @returns whether it was open */
  closed(id: string): boolean {
    clearTimeout(this.#documents.get(id)?.timer);
    return this.#documents.delete(id);
  }

  dispose(): void {
    for (const id of [...this.#documents.keys()]) this.closed(id);
  }

  async #index(id: string, document: OpenDocument): Promise<void> {
    document.timer = undefined;
    const text = document.getText();
    if (text.length > MAX_FILE_BYTES || isMinified(text)) {
      this.#ngrams.delete(id);
      return;
    }
    const tokens = await this.#worker.call({ kind: 'tokenizeText', text });
    const isCurrent = this.#documents.get(id) === document && document.timer === undefined;
    if (!isCurrent) return;
    this.#ngrams.set(id, tokens);
    this.#ngrams.compact(COMPACT_TOKENS);
  }
}
