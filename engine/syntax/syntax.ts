import { Language as Grammar, Parser } from 'web-tree-sitter';
import { SlipstreamError } from '../errors.ts';
import { DocumentSyntax } from './documentSyntax.ts';
import type { Language } from './language.ts';
import { SyntaxTree } from './syntaxTree.ts';
import { grammarFile, runtimeFile } from './wasmFiles.ts';

/** Parses one language. */
export class Syntax {
  readonly #parser: Parser;

  constructor(parser: Parser) {
    this.#parser = parser;
  }

  /** For a document in this language that will change. To be disposed of. */
  open(): DocumentSyntax {
    return new DocumentSyntax(this.#parser);
  }

  /** Gives the tree of a text to `read` and frees it afterwards: nothing of it may be kept. */
  parse<Result>(text: string, read: (tree: SyntaxTree) => Result): Result {
    const tree = this.#parser.parse(text)!; // null is for a parse that is called off
    try {
      return read(new SyntaxTree(tree.rootNode));
    } finally {
      tree.delete();
    }
  }
}

const loading = new Map<Language, Promise<Syntax>>();
let runtime: Promise<void> | undefined;

/**
 * Some tens of ms the first time, mostly compilation outside this thread.
 * @throws SlipstreamError io when the grammar's file is missing or broken
 */
export function loadSyntax(language: Language): Promise<Syntax> {
  const known = loading.get(language);
  if (known !== undefined) return known;
  const promise = load(language);
  loading.set(language, promise);
  return promise;
}

async function load(language: Language): Promise<Syntax> {
  const file = grammarFile(language);
  try {
    runtime ??= Parser.init({ locateFile: runtimeFile });
    await runtime;
    return new Syntax(new Parser().setLanguage(await Grammar.load(file)));
  } catch (cause) {
    throw new SlipstreamError('io', `${file}: the grammar cannot be loaded; install Slipstream again.`, {
      cause,
    });
  }
}
