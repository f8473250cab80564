import { TextDocument } from 'vscode-languageserver-textdocument';
import type { DocumentChange, OpenDocument } from '../protocol.ts';

interface Entry {
  document: TextDocument;
  readonly notebook?: { readonly uri: string; readonly cell: number };
}

/**
 * The editor's open documents, kept in step by its changes. A document that is out of step is forgotten: the
 * editor hears so when it next asks about it, and opens it again.
 */
export class Documents {
  readonly #entries = new Map<string, Entry>();

  /** Opening an open document replaces it. */
  open({ uri, languageId, version, text, notebook }: OpenDocument): TextDocument {
    const document = TextDocument.create(uri, languageId, version, text);
    this.#entries.set(uri, notebook ? { document, notebook } : { document });
    return document;
  }

  /** @returns the changed document, or undefined when the changes do not apply to the version held */
  change({ uri, baseVersion, version, changes }: DocumentChange): TextDocument | undefined {
    const entry = this.#entries.get(uri);
    if (entry?.document.version !== baseVersion || version < baseVersion) {
      this.#entries.delete(uri);
      return undefined;
    }
    entry.document = TextDocument.update(entry.document, [...changes], version);
    return entry.document;
  }

  close(uri: string): boolean {
    return this.#entries.delete(uri);
  }

  get(uri: string, version: number): TextDocument | undefined {
    const document = this.#entries.get(uri)?.document;
    return document?.version === version ? document : undefined;
  }

  all(): readonly TextDocument[] {
    return [...this.#entries.values()].map((entry) => entry.document);
  }

  /** All cells of the notebook that a cell belongs to, top to bottom; undefined when it is none. */
  notebookCells(uri: string): readonly TextDocument[] | undefined {
    const notebook = this.#entries.get(uri)?.notebook?.uri;
    if (notebook === undefined) return undefined;
    return [...this.#entries.values()]
      .filter((entry) => entry.notebook?.uri === notebook)
      .sort((a, b) => a.notebook!.cell - b.notebook!.cell)
      .map((entry) => entry.document);
  }
}
