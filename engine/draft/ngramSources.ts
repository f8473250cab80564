import type { TokenArray } from '../workspace/hashChain.ts';
import type { Match } from '../workspace/matchList.ts';
import { ChangedCopySource } from './changedCopySource.ts';
import { ContinuationSource } from './continuationSource.ts';
import type { SessionView } from './drafter.ts';
import type { GuessSource } from './guess.ts';
import type { LastSuggestion } from './lastSuggestion.ts';
import { NgramCalibration } from './ngramCalibration.ts';
import { SessionHistory } from './sessionHistory.ts';

/** Equal tokens that show a place to be the cursor's own, with the text after it. */
const SAME_SUFFIX_TOKENS = 4;

/** What the sources need of `NgramIndex`. */
export interface WorkspaceText {
  lookup(query: TokenArray): readonly Match[];
  documentOf(match: Match): string | undefined;
}

export interface NgramParts {
  readonly vocabSize: number;
  readonly specialTokenIds: ReadonlySet<number>;
  readonly workspace?: WorkspaceText | undefined;
  readonly lastSuggestion?: LastSuggestion | undefined;
}

/**
 * Prompt lookup: what followed the last tokens where they stood before, in what was suggested here, in this session
 * and in the workspace.
 */
export class NgramSources {
  readonly #parts: NgramParts;
  readonly #history: SessionHistory;
  readonly #calibration = new NgramCalibration();
  readonly #lastSuggestion = new ContinuationSource('lastSuggestion', this.#calibration);
  readonly #document = new ContinuationSource('document', this.#calibration);
  readonly #workspace = new ContinuationSource('workspace', this.#calibration, (match) =>
    this.#credit(match),
  );
  readonly #changedCopy = new ChangedCopySource((match) => this.#credit(match));
  /** Tokens of the session that were there when it was last looked at. */
  #followed = 0;
  readonly #acceptedFrom = new Map<string, number>();

  constructor(parts: NgramParts) {
    this.#parts = parts;
    this.#history = new SessionHistory(parts.vocabSize, parts.specialTokenIds);
  }

  get all(): readonly GuessSource[] {
    return [this.#lastSuggestion, this.#document, this.#workspace, this.#changedCopy];
  }

  get bytes(): number {
    return this.#history.bytes;
  }

  /** Accepted tokens of this session by the workspace document they were drafted from. */
  get acceptedFrom(): ReadonlyMap<string, number> {
    return this.#acceptedFrom;
  }

  /** Looks up where the session stands. */
  follow(view: SessionView): void {
    const { lastSuggestion } = this.#parts;
    if (this.#history.follow(view)) {
      this.#acceptedFrom.clear();
      this.#changedCopy.restart();
      this.#followed = view.tokens.length;
      lastSuggestion?.attach(this.#history.cursorTail);
    }
    const query = this.#history.tail();
    this.#lastSuggestion.matches = lastSuggestion?.lookup(query) ?? [];
    this.#document.matches = this.#history.lookup(query);
    this.#workspace.matches = this.#workspaceMatches(query, view);
    this.#followCopies(view);
  }

  #followCopies({ tokens }: SessionView): void {
    const [document] = this.#document.matches;
    const [workspace] = this.#workspace.matches;
    const isInDocument = document && (!workspace || document.length >= workspace.length);
    this.#changedCopy.follow(tokens.subarray(this.#followed), isInDocument ? document : workspace);
    this.#followed = tokens.length;
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

  #credit(seenAt: Match): void {
    const document = this.#parts.workspace?.documentOf(seenAt);
    if (document === undefined) return;
    this.#acceptedFrom.set(document, (this.#acceptedFrom.get(document) ?? 0) + 1);
  }
}

function continuesWith({ text, next }: Match, tokens: Int32Array): boolean {
  return tokens.length > 0 && tokens.every((token, i) => text.tokens[next + i] === token);
}
