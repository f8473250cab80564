import type { TextDocument } from 'vscode-languageserver-textdocument';

/** Open documents in the order in which they were used. */
export class RecentDocuments implements Iterable<TextDocument> {
  /** By URI, the most recently used last. */
  readonly #documents = new Map<string, TextDocument>();

  /** Opened, changed or completed in. */
  use(document: TextDocument): void {
    this.#documents.delete(document.uri);
    this.#documents.set(document.uri, document);
  }

  close(uri: string): void {
    this.#documents.delete(uri);
  }

  /** At most `count` of `documents`, the most recently used first. */
  mostRecent(documents: readonly TextDocument[], count: number): TextDocument[] {
    const byRecency = [...this.#documents.keys()].reverse();
    return documents.toSorted((a, b) => byRecency.indexOf(a.uri) - byRecency.indexOf(b.uri)).slice(0, count);
  }

  [Symbol.iterator](): Iterator<TextDocument> {
    return this.#documents.values();
  }
}
