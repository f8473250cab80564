import { type Feature, featuresOf, type Likeness, likenessTo, scoreOf } from './likeness.ts';
import { cutWindows } from './lineWindows.ts';
import type { CountTokens } from './window.ts';

/** Another document whose text may help: an open tab. */
export interface ContextDocument {
  readonly id: string;
  readonly version: number;
  /** As people read it: relative to the workspace, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** Whole lines of another document. */
export interface Snippet {
  readonly id: string;
  readonly path: string;
  readonly firstLine: number;
  readonly text: string;
}

export interface SnippetRequest {
  /** The text right before the cursor. */
  readonly near: string;
  readonly documents: readonly ContextDocument[];
  /** Of files of the workspace that are not open; windows are cut from them. */
  readonly pieces: readonly Snippet[];
  /** How rare what is mentioned is, 1 for the mean of it (likeness.ts). */
  readonly rarity: (feature: Feature) => number;
  readonly maxTokens: number;
  readonly count: CountTokens;
  /** What the last prompt held: it stays where it was unless something clearly better turned up. */
  readonly previous: readonly Snippet[];
}

export interface SnippetOptions {
  /** At most; less in a small budget, so that something fits. */
  readonly windowLines: number;
  readonly maxSnippets: number;
  /** Less alike than this is noise. */
  readonly minSimilarity: number;
  /** Documents that take longer wait for the next choice: what was read stays known. */
  readonly timeBudgetMs: number;
}

/**
 * Copilot looks at windows of 60 lines of 20 tabs and takes 4; a small model has a short context, so windows are
 * a function long and few are taken.
 */
export const defaultSnippetOptions: SnippetOptions = {
  windowLines: 20,
  maxSnippets: 4,
  minSimilarity: 0.05,
  timeBudgetMs: 10,
};

/** So many of the best are tried for the token budget; encoding is what costs. */
const tried = 12;

/** Tokens of the budget for a line of a window: two windows fit. */
const TOKENS_A_LINE = 24;
const FEWEST_LINES = 8;

/** What was chosen before counts for this much more: a changed context is prefilled again. */
const loyalty = 1.3;

interface Window {
  readonly firstLine: number;
  readonly text: string;
  readonly features: ReadonlySet<Feature>;
}

interface CutDocument {
  readonly text: string;
  readonly windowLines: number;
  readonly windows: readonly Window[];
}

interface Candidate {
  readonly snippet: Snippet;
  readonly score: number;
}

/** Chooses the pieces of other documents most like what is being written. Windows are cut once for each text of a document. */
export class SnippetChooser {
  readonly #options: SnippetOptions;
  readonly #now: () => number;
  readonly #windows = new Map<string, CutDocument>(); // by id

  constructor(options: SnippetOptions = defaultSnippetOptions, now: () => number = () => performance.now()) {
    this.#options = options;
    this.#now = now;
  }

  choose(request: SnippetRequest): readonly Snippet[] {
    const { documents, pieces, near, rarity, previous, maxTokens } = request;
    this.#forgetAllBut(documents);
    const wanted = likenessTo(near, rarity);
    const size = this.#windowLines(maxTokens);
    const best = [...this.#ofDocuments(documents, size, wanted), ...this.#ofPieces(pieces, size, wanted)]
      .map((candidate) => (isIn(previous, candidate.snippet) ? weigh(candidate, loyalty) : candidate))
      .sort((a, b) => b.score - a.score);
    return inStableOrder(this.#thatFit(best, request, size), previous);
  }

  #windowLines(maxTokens: number): number {
    return Math.min(this.#options.windowLines, Math.max(FEWEST_LINES, Math.floor(maxTokens / TOKENS_A_LINE)));
  }

  #ofDocuments(documents: readonly ContextDocument[], size: number, wanted: Likeness): Candidate[] {
    const deadline = this.#now() + this.#options.timeBudgetMs;
    return documents.flatMap(({ id, path, ...document }) => {
      const windows = this.#windowsOf({ id, path, ...document }, size, deadline);
      return this.#alike({ id, path, firstLine: 0 }, windows, wanted);
    });
  }

  #ofPieces(pieces: readonly Snippet[], size: number, wanted: Likeness): Candidate[] {
    return pieces.flatMap((piece) => this.#alike(piece, windowsIn(piece.text, size), wanted));
  }

  #alike(
    { id, path, firstLine }: Omit<Snippet, 'text'>,
    windows: readonly Window[],
    wanted: Likeness,
  ): Candidate[] {
    return windows
      .map((window) => ({
        snippet: { id, path, firstLine: firstLine + window.firstLine, text: window.text },
        score: scoreOf(window.features, wanted),
      }))
      .filter(({ score }) => score >= this.#options.minSimilarity);
  }

  #windowsOf({ id, text }: ContextDocument, size: number, deadline: number): readonly Window[] {
    const known = this.#windows.get(id);
    if (known?.text === text && known.windowLines === size) return known.windows;
    if (this.#now() > deadline) return [];
    const windows = windowsIn(text, size);
    this.#windows.set(id, { text, windowLines: size, windows });
    return windows;
  }

  /** Best first; windows that overlap a taken one add nothing. */
  #thatFit(best: readonly Candidate[], { maxTokens, count }: SnippetRequest, size: number): Candidate[] {
    const taken: Candidate[] = [];
    let tokens = 0;
    for (const candidate of best.slice(0, tried)) {
      if (taken.length === this.#options.maxSnippets) break;
      if (taken.some((other) => overlap(other.snippet, candidate.snippet, size))) continue;
      const cost = count(`${candidate.snippet.path}\n${candidate.snippet.text}\n`) + 1;
      if (tokens + cost > maxTokens) continue;
      tokens += cost;
      taken.push(candidate);
    }
    return taken;
  }

  #forgetAllBut(documents: readonly ContextDocument[]): void {
    const open = new Set(documents.map(({ id }) => id));
    for (const id of this.#windows.keys()) if (!open.has(id)) this.#windows.delete(id);
  }
}

/** The ones that stay keep their order and place; new ones follow, the most alike last, next to the document. */
function inStableOrder(chosen: readonly Candidate[], previous: readonly Snippet[]): readonly Snippet[] {
  const fresh = chosen.filter(({ snippet }) => !isIn(previous, snippet)).sort((a, b) => a.score - b.score);
  const staying = previous.filter((snippet) =>
    chosen.some((candidate) => isSame(candidate.snippet, snippet)),
  );
  return [...staying, ...fresh.map(({ snippet }) => snippet)];
}

const isSame = (a: Snippet, b: Snippet) => a.id === b.id && a.text === b.text;
const isIn = (snippets: readonly Snippet[], one: Snippet) => snippets.some((other) => isSame(other, one));
const overlap = (a: Snippet, b: Snippet, lines: number) =>
  a.id === b.id && Math.abs(a.firstLine - b.firstLine) < lines;
const weigh = (candidate: Candidate, by: number) => ({ ...candidate, score: candidate.score * by });

const windowsIn = (text: string, size: number): Window[] =>
  cutWindows(text, size).map((window) => ({ ...window, features: featuresOf(window.text) }));
