import { ROOT } from '../tree/tokenTree.ts';
import { Calibration } from './calibration.ts';
import type { SessionView, Verdict } from './drafter.ts';
import { type Guess, type GuessSource, type PathEnd, textPath } from './guess.ts';
import { SuccessorTable } from './successorTable.ts';

/**
 * Longest context of a row. The paper's rows are for one token; measured on code that nothing was fitted to, the
 * target's own words came back far more often after two and three, a fourth one changed nothing.
 */
const LONGEST_CONTEXT = 3;

/** Successors a row: 8, as in the paper, drafted no better. */
export const SUCCESSORS = 4;

const DEPTHS = 3;

interface RecycledGuess extends Guess {
  readonly cell: number;
}

/**
 * Token recycling (arXiv 2408.08696): what the target held probable after the same tokens before, also where it was
 * asked for the sake of a draft that it then rejected.
 */
export class RecycledSource implements GuessSource<RecycledGuess> {
  readonly name = 'recycled';
  readonly #table: SuccessorTable;
  readonly #calibration = new Calibration(LONGEST_CONTEXT * 2 * DEPTHS * SUCCESSORS);
  /** The text before the drafts: at most as much as a row's context. */
  #text: PathEnd = textPath([0]);
  /** The last committed token: a control token where the text is broken by one. */
  #root: number | undefined;
  /** Its id; no session has that of before the first one. */
  #session = -1;

  constructor(vocabSize: number) {
    this.#table = new SuccessorTable(vocabSize, SUCCESSORS);
  }

  get bytes(): number {
    return this.#table.bytes;
  }

  /** Takes in where the session stands. @returns the text before the drafts */
  follow(view: SessionView): PathEnd {
    this.#session = view.id;
    this.#root = view.tokens[view.tokens.length - 1];
    this.#text = textPath(lastText(view));
    return this.#text;
  }

  after(end: PathEnd): readonly RecycledGuess[] {
    for (let length = LONGEST_CONTEXT; length > 0; length--) {
      const context = contextOf(end, length);
      const slot = context === undefined ? -1 : this.#table.find(context);
      if (slot >= 0) return this.#guesses(slot, length, end.depth);
    }
    return [];
  }

  learn({ cell }: RecycledGuess, accepted: boolean): void {
    this.#calibration.observe(cell, accepted);
  }

  /** Keeps the target's successors of every row. Those on the accepted path come last, so that they stay. */
  refresh({ tree, root, accepted, bonus, successors }: Verdict): void {
    const text = this.#root === root ? this.#text : textPath([root]);
    const ends: PathEnd[] = [];
    for (let node = 0; node < tree.size; node++) {
      const parent = tree.parents[node];
      const before = parent === ROOT ? text : ends[parent];
      ends.push({ token: tree.tokens[node], before, depth: before.depth + 1 });
    }
    if (successors) {
      const width = successors.length / (tree.size + 1);
      const keep = (end: PathEnd, row: number) =>
        this.#keep(end, successors.subarray(row * width, (row + 1) * width));
      for (const [node, end] of ends.entries()) keep(end, node + 1);
      keep(text, 0);
      for (const node of accepted) keep(ends[node], node + 1);
    }
    const last = accepted.length === 0 ? text : ends[accepted[accepted.length - 1]];
    this.#text = { token: bonus, before: last, depth: 0 };
    this.#root = bonus;
  }

  #keep(end: PathEnd, successors: Int32Array): void {
    for (let length = 1; length <= LONGEST_CONTEXT; length++) {
      const context = contextOf(end, length);
      if (context !== undefined) this.#table.refresh(context, successors, this.#session);
    }
  }

  #guesses(slot: number, length: number, depth: number): RecycledGuess[] {
    const isFresh = this.#table.session(slot) === this.#session;
    const kind = (length - 1) * 2 + (isFresh ? 1 : 0);
    const guesses: RecycledGuess[] = [];
    for (let rank = 0; rank < SUCCESSORS; rank++) {
      const cell = (kind * DEPTHS + Math.min(depth, DEPTHS - 1)) * SUCCESSORS + rank;
      guesses.push({
        token: this.#table.successor(slot, rank),
        probability: this.#calibration.probability(cell, PRIORS[kind] * RANKS[rank]),
        cell,
      });
    }
    return guesses;
  }
}

/** P(best successor is right) by the context's length and whether the row is of this session, measured on code. */
const PRIORS = [0.15, 0.35, 0.27, 0.6, 0.45, 0.82];
/** The same of the other ranks, as a part of it. */
const RANKS = [1, 0.2, 0.1, 0.06];

/** Undefined where the path is shorter. */
function contextOf(end: PathEnd, length: number): number | undefined {
  let hash = length;
  let at: PathEnd | undefined = end;
  for (let i = 0; i < length; i++) {
    if (!at) return undefined;
    hash = (Math.imul(hash, 0x01000193) + at.token + 1) | 0;
    at = at.before;
  }
  return hash;
}

/** What a row's context may be: generated, and before that the text before the cursor. */
function lastText({ tokens, promptLength, prefix }: SessionView): Int32Array {
  const generated = tokens.subarray(Math.max(promptLength, tokens.length - LONGEST_CONTEXT));
  const missing = LONGEST_CONTEXT - generated.length;
  const before = tokens.subarray(Math.max(prefix.start, prefix.end - missing), prefix.end);
  const text = Int32Array.from([...(missing > 0 ? before : []), ...generated]);
  return text.length > 0 ? text : tokens.slice(-1);
}
