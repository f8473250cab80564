import type { CountTokens } from './window.ts';

/** Another document whose text may help: an open tab, later a file of the workspace. */
export interface ContextDocument {
  readonly uri: string;
  readonly version: number;
  /** As people read it: relative to the workspace, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** Whole lines of another document. */
export interface Snippet {
  readonly uri: string;
  readonly path: string;
  readonly firstLine: number;
  readonly text: string;
}

export interface SnippetRequest {
  /** The text right before the cursor. */
  readonly near: string;
  readonly documents: readonly ContextDocument[];
  readonly maxTokens: number;
  readonly count: CountTokens;
  /** What the last prompt held: it stays where it was unless something clearly better turned up. */
  readonly previous: readonly Snippet[];
}

export interface SnippetOptions {
  readonly windowLines: number;
  readonly maxSnippets: number;
  /** Lines before the cursor that say what is being written. */
  readonly nearLines: number;
  /** Less alike than this is noise. */
  readonly minSimilarity: number;
  /** Only so much of a document is looked at. */
  readonly maxLines: number;
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
  nearLines: 20,
  minSimilarity: 0.05,
  maxLines: 4000,
  timeBudgetMs: 10,
};

/** So many of the best are tried for the token budget; encoding is what costs. */
const tried = 12;

/** What was chosen before counts for this much more: a changed context is prefilled again. */
const loyalty = 1.3;

interface Window {
  readonly firstLine: number;
  readonly text: string;
  readonly identifiers: ReadonlySet<string>;
}

interface Candidate {
  readonly snippet: Snippet;
  readonly score: number;
}

/**
 * Chooses the pieces of other documents most alike to what is being written, by the Jaccard similarity of their
 * identifiers (as Copilot's neighbouring tabs do). Windows are cut once a document version.
 */
export class SnippetChooser {
  readonly #options: SnippetOptions;
  readonly #now: () => number;
  readonly #windows = new Map<string, { readonly version: number; readonly windows: readonly Window[] }>();

  constructor(options: SnippetOptions = defaultSnippetOptions, now: () => number = () => performance.now()) {
    this.#options = options;
    this.#now = now;
  }

  choose(request: SnippetRequest): readonly Snippet[] {
    const { documents, near, previous } = request;
    this.#forgetAllBut(documents);
    const wanted = identifiersOf(near.split('\n').slice(-this.#options.nearLines).join('\n'));
    const best = this.#candidates(documents, wanted)
      .map((candidate) => (isIn(previous, candidate.snippet) ? weigh(candidate, loyalty) : candidate))
      .sort((a, b) => b.score - a.score);
    return inStableOrder(this.#thatFit(best, request), previous);
  }

  #candidates(documents: readonly ContextDocument[], wanted: ReadonlySet<string>): Candidate[] {
    const deadline = this.#now() + this.#options.timeBudgetMs;
    const candidates: Candidate[] = [];
    for (const document of documents) {
      const windows = this.#windowsOf(document, deadline);
      for (const { firstLine, text, identifiers } of windows) {
        const score = jaccard(wanted, identifiers);
        if (score < this.#options.minSimilarity) continue;
        candidates.push({ snippet: { uri: document.uri, path: document.path, firstLine, text }, score });
      }
    }
    return candidates;
  }

  #windowsOf(document: ContextDocument, deadline: number): readonly Window[] {
    const known = this.#windows.get(document.uri);
    if (known?.version === document.version) return known.windows;
    if (this.#now() > deadline) return [];
    const windows = cutWindows(document.text, this.#options);
    this.#windows.set(document.uri, { version: document.version, windows });
    return windows;
  }

  /** Best first; windows that overlap a taken one add nothing. */
  #thatFit(best: readonly Candidate[], { maxTokens, count }: SnippetRequest): Candidate[] {
    const taken: Candidate[] = [];
    let tokens = 0;
    for (const candidate of best.slice(0, tried)) {
      if (taken.length === this.#options.maxSnippets) break;
      if (taken.some((other) => this.#overlap(other.snippet, candidate.snippet))) continue;
      const cost = count(`${candidate.snippet.path}\n${candidate.snippet.text}\n`) + 1;
      if (tokens + cost > maxTokens) continue;
      tokens += cost;
      taken.push(candidate);
    }
    return taken;
  }

  #overlap(a: Snippet, b: Snippet): boolean {
    return a.uri === b.uri && Math.abs(a.firstLine - b.firstLine) < this.#options.windowLines;
  }

  #forgetAllBut(documents: readonly ContextDocument[]): void {
    const open = new Set(documents.map(({ uri }) => uri));
    for (const uri of this.#windows.keys()) if (!open.has(uri)) this.#windows.delete(uri);
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

const isSame = (a: Snippet, b: Snippet) => a.uri === b.uri && a.text === b.text;
const isIn = (snippets: readonly Snippet[], one: Snippet) => snippets.some((other) => isSame(other, one));
const weigh = (candidate: Candidate, by: number) => ({ ...candidate, score: candidate.score * by });

/** Windows overlap by half, so that no function falls between two of them. */
function cutWindows(text: string, { windowLines, maxLines }: SnippetOptions): Window[] {
  const lines = firstLines(text, maxLines);
  const windows: Window[] = [];
  for (let firstLine = 0; firstLine < lines.length; firstLine += windowLines / 2) {
    const window = lines
      .slice(firstLine, firstLine + windowLines)
      .join('\n')
      .trimEnd();
    windows.push({ firstLine, text: window, identifiers: identifiersOf(window) });
    if (firstLine + windowLines >= lines.length) break;
  }
  return windows;
}

/** Lines longer than people write are data. */
const longestLine = 400;
const charactersALine = 60;

function firstLines(text: string, maxLines: number): string[] {
  const lines = text.slice(0, maxLines * charactersALine).split(/\r?\n/u, maxLines);
  return lines.map((line) => (line.length > longestLine ? '' : line));
}

function identifiersOf(text: string): ReadonlySet<string> {
  return new Set(text.match(/[\p{L}_$][\p{L}\p{N}_$]{2,}/gu));
}

function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0;
  for (const word of a) if (b.has(word)) common++;
  const union = a.size + b.size - common;
  return union === 0 ? 0 : common / union;
}
