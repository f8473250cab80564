import { ROOT, type TokenTree, TokenTreeBuilder } from '../tree/tokenTree.ts';
import type { TokenArray } from '../workspace/hashChain.ts';
import type { Match } from '../workspace/matchList.ts';
import { Calibration } from './calibration.ts';
import { ContinuationTree, type Guess } from './continuationTree.ts';
import type { Drafter, SessionView, Verdict } from './drafter.ts';
import type { LastSuggestion } from './lastSuggestion.ts';
import { SessionHistory } from './sessionHistory.ts';

/** Equal tokens that show a place to be the cursor's own, with the text after it. */
const SAME_SUFFIX_TOKENS = 4;

/** What the drafter needs of `NgramIndex`. */
export interface WorkspaceText {
  lookup(query: TokenArray): readonly Match[];
  documentOf(match: Match): string | undefined;
}

export interface NgramDrafterParts {
  readonly vocabSize: number;
  readonly specialTokenIds: ReadonlySet<number>;
  readonly workspace?: WorkspaceText | undefined;
  readonly lastSuggestion?: LastSuggestion | undefined;
}

/**
 * Prompt lookup: what followed the last tokens where they stood before, in this session, in what was suggested
 * here and in the workspace, as one tree.
 */
export class NgramDrafter implements Drafter {
  readonly name = 'ngram';
  readonly #parts: NgramDrafterParts;
  readonly #history: SessionHistory;
  readonly #calibration = new Calibration();
  readonly #acceptedFrom = new Map<string, number>();
  #guesses: readonly Guess[] = [];

  constructor(parts: NgramDrafterParts) {
    this.#parts = parts;
    this.#history = new SessionHistory(parts.vocabSize, parts.specialTokenIds);
  }

  get bytes(): number {
    return this.#history.bytes;
  }

  /** Accepted tokens of this session by the workspace document they were drafted from. */
  get acceptedFrom(): ReadonlyMap<string, number> {
    return this.#acceptedFrom;
  }

  propose(view: SessionView, budget: number): TokenTree {
    const { lastSuggestion } = this.#parts;
    if (this.#history.follow(view)) {
      this.#acceptedFrom.clear();
      lastSuggestion?.attach(this.#history.cursorTail);
    }
    const query = this.#history.tail();
    const builder = new TokenTreeBuilder();
    const tree = new ContinuationTree(builder, this.#calibration);
    if (lastSuggestion) tree.grow('lastSuggestion', lastSuggestion.lookup(query), budget);
    tree.grow('document', this.#history.lookup(query), budget);
    tree.grow('workspace', this.#workspaceMatches(query, view), budget);
    this.#guesses = tree.guesses;
    return builder.build(budget);
  }

  /** Learns from every guess that was made, also from those that were cut before verification. */
  observe({ tree, accepted, bonus }: Verdict): void {
    const written = [...accepted.map((node) => tree.tokens[node]), bonus];
    let parent: number | undefined = ROOT;
    for (const [depth, token] of written.entries()) {
      const siblings: readonly Guess[] = this.#guesses.filter((guess) => guess.parent === parent);
      for (const guess of siblings) this.#calibration.observe(guess.evidence, guess.token === token);
      const right = siblings.filter((guess) => guess.token === token);
      if (tree.sources[accepted[depth]] === 'workspace') this.#credit(right);
      if (right.length === 0) break;
      parent = right[0].node;
    }
    this.#guesses = [];
  }

  dispose(): void {
    this.#guesses = [];
  }

  #workspaceMatches(query: TokenArray, view: SessionView): readonly Match[] {
    const { workspace } = this.#parts;
    if (workspace === undefined) return [];
    const suffix = view.tokens.subarray(
      view.suffix.start,
      Math.min(view.suffix.end, view.suffix.start + SAME_SUFFIX_TOKENS),
    );
    // The document's own text at the cursor continues with what already stands there: no suggestion.
    return workspace
      .lookup(query)
      .filter((match) => !continuesWith(match, suffix) || workspace.documentOf(match) !== view.document);
  }

  #credit(guesses: readonly Guess[]): void {
    const seen = guesses.find(({ evidence }) => evidence.source === 'workspace');
    const document = seen && this.#parts.workspace?.documentOf(seen.seenAt);
    if (document === undefined) return;
    this.#acceptedFrom.set(document, (this.#acceptedFrom.get(document) ?? 0) + 1);
  }
}

function continuesWith({ text, next }: Match, tokens: Int32Array): boolean {
  return tokens.length > 0 && tokens.every((token, i) => text.tokens[next + i] === token);
}
