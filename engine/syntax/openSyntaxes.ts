import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { DocumentSyntax, SyntaxProbe } from './documentSyntax.ts';
import { type Language, languageOf } from './language.ts';
import { loadSyntax, type Syntax } from './syntax.ts';

/** Undefined without a grammar, and as long as it is not loaded. */
export type AskSyntax = () => SyntaxProbe | undefined;

type Parse = () => DocumentSyntax | undefined;

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

  /**
   * For those who do not wait: the document as it is now, parsed the first time that what this returns is called. A
   * parse holds up the model's passes, which run on this thread too, so call it when they are over.
   */
  read(document: TextDocument): AskSyntax {
    let parse: Parse | undefined;
    let syntax: DocumentSyntax | undefined;
    void this.#load(document).then((loaded) => {
      parse = loaded;
    });
    return () => {
      syntax ??= parse?.();
      return syntax?.probe();
    };
  }

  /** Parses the document as it is now, so that a later version costs what the change costs. */
  async prepare(document: TextDocument): Promise<void> {
    const parse = await this.#load(document);
    parse?.();
  }

  forget(uri: string): void {
    this.#byUri.get(uri)?.syntax.dispose();
    this.#byUri.delete(uri);
  }

  dispose(): void {
    for (const uri of [...this.#byUri.keys()]) this.forget(uri);
  }

  /** The document is read before the first await. @returns undefined without a grammar */
  async #load(document: TextDocument): Promise<Parse | undefined> {
    const { uri, languageId } = document;
    const language = languageOf(languageId, uri);
    if (language === undefined) return undefined;
    const text = document.getText();
    try {
      const grammar = await loadSyntax(language);
      return () => this.#parse(uri, language, grammar, text);
    } catch (error) {
      return this.#fault(error as Error);
    }
  }

  #parse(uri: string, language: Language, grammar: Syntax, text: string): DocumentSyntax | undefined {
    try {
      const syntax = this.#opened(uri, language, grammar);
      syntax.update(text);
      return syntax;
    } catch (error) {
      return this.#fault(error as Error);
    }
  }

  #fault({ message }: Error): undefined {
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
