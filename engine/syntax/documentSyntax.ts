import type { Parser, Tree } from 'web-tree-sitter';
import { editBetween } from './editBetween.ts';

/**
 * Work of the parser before it gives up, in its progress reports, one each 100 operations (some 0.03 ms). Counted
 * rather than timed, so that what is suggested does not depend on what else the machine does.
 */
const STEPS_FOR_DOCUMENT = 4000;
/**
 * However few steps that were: a scanner of a grammar can read the rest of the text in each of them. Far above what the
 * steps take otherwise, on a busy machine too.
 */
const MOST_MS_FOR_DOCUMENT = 500;
const MOST_MS_FOR_PROBE = 200;
/** A text that was too much work is tried again when it has become shorter by a quarter. */
const CLEARLY_SHORTER = 0.75;
/** For all questions about one suggestion. */
const STEPS_FOR_PROBE = 400;

/** Tells whether versions of a document are whole, until it has worked enough. */
export interface SyntaxProbe {
  /** Whether the parser had nothing to repair; undefined when it is too much work to tell. */
  isWhole(text: string): boolean | undefined;
}

/**
 * The syntax of one document as it changes. Each version is parsed from the one before, so that a parse costs what
 * the change costs, not what the document does.
 */
export class DocumentSyntax {
  readonly #parser: Parser;
  #last: { readonly text: string; readonly tree: Tree } | undefined;
  /** Length from which on a text is too much work. */
  #tooLong = Number.POSITIVE_INFINITY;

  constructor(parser: Parser) {
    this.#parser = parser;
  }

  /** How the document is now: what is asked about next is parsed from here. */
  update(text: string): void {
    if (text.length >= this.#tooLong) return;
    if (this.#parse(text, budgetOf(STEPS_FOR_DOCUMENT, MOST_MS_FOR_DOCUMENT))) return;
    this.#tooLong = CLEARLY_SHORTER * text.length;
    this.dispose(); // from the old tree the next version would be as much work
  }

  /** For questions about versions that differ little from the last one. */
  probe(): SyntaxProbe {
    const budget = budgetOf(this.#last === undefined ? 0 : STEPS_FOR_PROBE, MOST_MS_FOR_PROBE);
    return {
      isWhole: (text) => {
        const tree = this.#parse(text, budget);
        return tree && !tree.rootNode.hasError;
      },
    };
  }

  dispose(): void {
    this.#last?.tree.delete();
    this.#last = undefined;
  }

  /** @param budget is used up */
  #parse(text: string, budget: Budget): Tree | undefined {
    if (this.#last?.text === text) return this.#last.tree;
    if (budget.steps <= 0 || budget.ms <= 0) return undefined;
    const old = this.#last && edited(this.#last, text);
    const started = performance.now();
    const progressCallback = () => --budget.steps <= 0 || performance.now() - started > budget.ms;
    const tree = this.#parser.parse(text, old, { progressCallback });
    budget.ms -= performance.now() - started;
    old?.delete();
    if (tree === null) {
      this.#parser.reset(); // or the next parse would go on with this text
      return undefined;
    }
    this.dispose();
    this.#last = { text, tree };
    return tree;
  }
}

/** What a parse may take. */
interface Budget {
  steps: number;
  ms: number;
}

const budgetOf = (steps: number, ms: number): Budget => ({ steps, ms });

/** A copy of the tree that knows where the text is another one now. */
function edited({ text: old, tree }: { readonly text: string; readonly tree: Tree }, text: string): Tree {
  const copy = tree.copy();
  copy.edit(editBetween(old, text));
  return copy;
}
