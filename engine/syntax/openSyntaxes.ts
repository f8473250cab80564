import { setImmediate } from 'node:timers/promises';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { DocumentSyntax, SyntaxProbe } from './documentSyntax.ts';
import { type Language, languageOf } from './language.ts';
import { loadSyntax, type Syntax } from './syntax.ts';

/** Documents whose trees are kept; a tree takes some ten times the room of its text. */
const REMEMBERED = 8;

/** The syntax of the documents that are being completed, as far as there is a grammar and it is loaded. */
export class OpenSyntaxes {
  readonly #byUri = new Map<string, { readonly syntax: DocumentSyntax; readonly language: Language }>();
  readonly #log: (message: string) => void;
  readonly #faults = new Set<string>();

  /** @param log takes each fault once */
  constructor(log: (message: string) => void) {
    this.#log = log;
  }

  /** For those who do not wait: undefined before `prepare` is done. */
  probe(uri: string): SyntaxProbe | undefined {
    return this.#byUri.get(uri)?.syntax.probe();
  }

  /** When the document as it was when this was called can be asked about. */
  async prepare(document: TextDocument): Promise<void> {
    const { uri, languageId } = document;
    const language = languageOf(languageId, uri);
    if (language === undefined) return;
    const text = document.getText();
    try {
      const syntax = await loadSyntax(language);
      // What the model is waiting for is sent off first.
      await setImmediate();
      this.#opened(uri, language, syntax).update(text);
    } catch (error) {
      this.#fault((error as Error).message);
    }
  }

  forget(uri: string): void {
    this.#byUri.get(uri)?.syntax.dispose();
    this.#byUri.delete(uri);
  }

  dispose(): void {
    for (const uri of [...this.#byUri.keys()]) this.forget(uri);
  }

  #fault(message: string): void {
    if (!this.#faults.has(message)) this.#log(message);
    this.#faults.add(message);
  }

  /** The document's as it was left; a new one when the document has another language by now. */
  #opened(uri: string, language: Language, grammar: Syntax): DocumentSyntax {
    const known = this.#byUri.get(uri);
    if (known && known.language !== language) this.forget(uri);
    const syntax = known?.language === language ? known.syntax : grammar.open();
    this.#byUri.delete(uri);
    this.#byUri.set(uri, { syntax, language });
    if (this.#byUri.size > REMEMBERED) this.forget(this.#byUri.keys().next().value!);
    return syntax;
  }
}
