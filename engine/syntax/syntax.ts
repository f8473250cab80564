import { Language as Grammar, Parser } from 'web-tree-sitter';
import { SlipstreamError } from '../errors.ts';
import { DocumentSyntax } from './documentSyntax.ts';
import type { Language } from './language.ts';
import { SyntaxTree } from './syntaxTree.ts';
import { grammarFile, runtimeFile } from './wasmFiles.ts';

/** Parses one language. */
export class Syntax {
  readonly language: Language;
  readonly #parser: Parser;

  constructor(language: Language, parser: Parser) {
    this.language = language;
    this.#parser = parser;
  }

  /** For a document in this language that will change. To be disposed of. */
  open(): DocumentSyntax {
    return new DocumentSyntax(this.#parser);
  }

  /**
   * Gives the tree of a text to `read` and frees it afterwards: nothing of it may be kept.
   * @param limitMs give up after about so long; text that makes no sense can take a parser long to repair
   * @returns undefined when it took longer
   */
  parse<Result>(text: string, read: (tree: SyntaxTree) => Result, limitMs = Infinity): Result | undefined {
    const start = performance.now();
    const tree = this.#parser.parse(text, null, {
      progressCallback: () => performance.now() - start > limitMs,
    });
    if (tree === null) {
      this.#parser.reset(); // or the next parse would go on with this text
      return undefined;
    }
    try {
      return read(new SyntaxTree(tree.rootNode));
    } finally {
      tree.delete();
    }
  }
}

const ready = new Map<Language, Syntax>();
const loading = new Map<Language, Promise<Syntax>>();
let runtime: Promise<void> | undefined;

/** For those who cannot wait: undefined until `loadSyntax` is done. */
export function loadedSyntax(language: Language): Syntax | undefined {
  return ready.get(language);
}

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
    const parser = new Parser().setLanguage(await Grammar.load(file));
    const syntax = new Syntax(language, parser);
    ready.set(language, syntax);
    return syntax;
  } catch (cause) {
    throw new SlipstreamError('io', `${file}: the grammar cannot be loaded; install Slipstream again.`, {
      cause,
    });
  }
}
