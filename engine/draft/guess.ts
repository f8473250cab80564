import type { DraftSource } from '../tree/tokenTree.ts';

/** A token that may follow a path, and how probable its source holds it. */
export interface Guess {
  readonly token: number;
  /** P(the target writes it | it wrote the path before it), calibrated. */
  readonly probability: number;
}

/** A path by its last token: of the text before the drafts, or drafted. */
export interface PathEnd {
  readonly token: number;
  /** Absent before the first token that is of interest. */
  readonly before: PathEnd | undefined;
  /** Drafted tokens of the path; 0: the text before them. */
  readonly depth: number;
}

/** Where guesses come from. */
export interface GuessSource<Own extends Guess = Guess> {
  readonly name: DraftSource;
  /**
   * What may follow a path: distinct tokens.
   *
   * @param own this source's own guess that the path ends with; undefined before the first draft, and where only other
   *   sources led
   */
  after(end: PathEnd, own: Own | undefined): readonly Own[];
  /** What the target wrote in the place of a guess; told only where it had written the path before it. */
  learn(guess: Own, accepted: boolean): void;
  /** The guess was verified under this source's name, and accepted. */
  credit?(guess: Own): void;
}

/** The text before the drafts as a path; `tokens` are not empty. */
export function textPath(tokens: ArrayLike<number>): PathEnd {
  let end: PathEnd = { token: tokens[0], before: undefined, depth: 0 };
  for (let i = 1; i < tokens.length; i++) end = { token: tokens[i], before: end, depth: 0 };
  return end;
}
