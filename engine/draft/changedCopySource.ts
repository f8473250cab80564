import type { Match } from '../workspace/matchList.ts';
import { Calibration } from './calibration.ts';
import type { Guess, GuessSource, PathEnd } from './guess.ts';

/** Equal tokens that make a place one that the text copies. */
const LEAST_COPIED = 4;
/** Tokens that the text may write before it comes back to what it copied. */
const LONGEST_CHANGE = 6;
/** Tokens of the place that those may stand for. */
const LONGEST_REPLACED = 3;
/** Copies that are followed at once. */
const COPIES = 3;
/** Tokens since the last change that are told apart. */
const CELLS = 8;

/** A place that the text repeats, with changes. */
interface Copy {
  readonly text: Match['text'];
  /** Of the token that the text copies next, or would have copied where it changes something. */
  readonly next: number;
  /** Tokens of the change under way; 0 while the text copies. */
  readonly changed: number;
  /** Tokens copied since the last change; 0 before the first one is over. */
  readonly resumed: number;
}

interface CopyGuess extends Guess {
  readonly cell: number;
  readonly seenAt: Match;
}

/**
 * Lines that are written once more with something else in them: another name, another number, an argument more. A match of
 * the last tokens (ContinuationSource) ends with every change and has to grow anew; here the place that was copied is
 * remembered, and once the text says again what stands there, a few tokens further on, the copy goes on from there.
 *
 * What a change itself says, and where it ends, is left to the other sources (docs/decisions/0030).
 */
export class ChangedCopySource implements GuessSource<CopyGuess> {
  readonly name = 'changedCopy';
  readonly #onCredit: (seenAt: Match) => void;
  readonly #calibration = new Calibration(CELLS);
  /** At the end of the text, the newest last. */
  #copies: readonly Copy[] = [];
  /** At the ends of the paths that are searched. */
  #atEnd = new WeakMap<PathEnd, readonly Copy[]>();

  /** @param onCredit takes the place where an accepted token was seen */
  constructor(onCredit: (seenAt: Match) => void) {
    this.#onCredit = onCredit;
  }

  /** Another text begins. */
  restart(): void {
    this.#copies = [];
  }

  /**
   * Takes in how the text went on.
   *
   * @param written the tokens since the last call
   * @param longest the place that shares most of the text's end
   */
  follow(written: ArrayLike<number>, longest: Match | undefined): void {
    for (let i = 0; i < written.length; i++) this.#copies = advanced(this.#copies, written[i]);
    if (longest && longest.length >= LEAST_COPIED && !this.#follows(longest)) {
      const { text, next } = longest;
      this.#copies = [...this.#copies, { text, next, changed: 0, resumed: 0 }].slice(-COPIES);
    }
    this.#atEnd = new WeakMap();
  }

  after(end: PathEnd): readonly CopyGuess[] {
    const guesses: CopyGuess[] = [];
    for (const { text, next, changed, resumed } of this.#copiesAt(end)) {
      const token = text.tokens[next];
      if (changed > 0 || resumed === 0 || token === text.separator) continue;
      const cell = Math.min(resumed, CELLS) - 1;
      const probability = this.#calibration.probability(cell, prior(cell));
      const same = guesses.findIndex((guess) => guess.token === token);
      if (same >= 0 && guesses[same].probability >= probability) continue;
      const guess = { token, probability, cell, seenAt: { text, next, length: resumed } };
      if (same < 0) guesses.push(guess);
      else guesses[same] = guess;
    }
    return guesses;
  }

  learn({ cell }: CopyGuess, accepted: boolean): void {
    this.#calibration.observe(cell, accepted);
  }

  credit({ seenAt }: CopyGuess): void {
    this.#onCredit(seenAt);
  }

  #follows({ text, next }: Match): boolean {
    return this.#copies.some((copy) => copy.changed === 0 && copy.text === text && copy.next === next);
  }

  #copiesAt(end: PathEnd): readonly Copy[] {
    if (end.depth === 0 || this.#copies.length === 0) return this.#copies;
    let copies = this.#atEnd.get(end);
    if (!copies) {
      copies = advanced(this.#copiesAt(end.before!), end.token);
      this.#atEnd.set(end, copies);
    }
    return copies;
  }
}

/** A guess at what a copy is worth; online calibration takes over. */
function prior(cell: number): number {
  return 1 - 0.6 / (cell + 1);
}

/** What becomes of copies as the text goes on with a token. */
function advanced(copies: readonly Copy[], token: number): readonly Copy[] {
  const later = copies.flatMap((copy) => advancedOne(copy, token));
  return later
    .filter((copy, i) => !later.some((other, j) => i !== j && isWithin(copy, other)))
    .slice(-COPIES);
}

/** Whether a copy came back to where another one has been for longer: a change that it was thought to be in was none. */
function isWithin(copy: Copy, other: Copy): boolean {
  const isSamePlace = copy.text === other.text && copy.next === other.next;
  return isSamePlace && copy.changed === 0 && other.changed === 0 && copy.resumed < other.resumed;
}

function advancedOne(copy: Copy, token: number): readonly Copy[] {
  const { text, next, changed, resumed } = copy;
  const isCopied = changed === 0 && text.tokens[next] === token;
  if (isCopied) return [{ ...copy, next: next + 1, resumed: resumed === 0 ? 0 : resumed + 1 }];
  // One equal token was chance. The change that it seemed to end is followed as well.
  if (changed === 0 && resumed === 1) return [];
  const goesOn = changed < LONGEST_CHANGE ? [{ ...copy, changed: changed + 1 }] : [];
  const back = comesBackAt(copy, token);
  return back === undefined ? goesOn : [...goesOn, { text, next: back + 1, changed: 0, resumed: 1 }];
}

/** The first place after what may have been replaced where the token stands. */
function comesBackAt({ text, next }: Copy, token: number): number | undefined {
  for (let at = next; at <= next + LONGEST_REPLACED; at++) {
    if (text.tokens[at] === text.separator) return undefined;
    if (text.tokens[at] === token) return at;
  }
  return undefined;
}
