import type { DraftHead, DraftHeadInfo } from '../model/draftHead.ts';
import type { DraftCandidates, DraftHeadRows, Pairs, TreeLimits } from '../model/draftHeadRows.ts';
import { commonPrefix } from '../sequence/commonPrefix.ts';
import type { PooledSequence } from '../sequence/sequencePool.ts';
import type { SessionView } from './drafter.ts';

/** What drafting needs of a head. */
export type DraftingHead = Pick<DraftHead, 'info' | 'createRows'>;

export interface SequenceDraft {
  readonly candidates: DraftCandidates;
  /** New ones that were run for it. */
  readonly pairs: number;
}

/**
 * Multiplications that a proposal may spend on catching up: some 25 ms of one core. A run cannot be interrupted, and a
 * cancel should be felt within 50 ms.
 */
const CATCH_UP_MULTIPLICATIONS = 5e8;

/**
 * One sequence as the head has it in its KV rows: a pair for every token but the first, each with the target's feature of
 * the position before it. Which rows are right is found by comparing tokens, so that it never matters what happened
 * meanwhile: a cancelled request, another prompt, drafts of somebody else's.
 */
export class EagleSequence implements PooledSequence {
  readonly #rows: DraftHeadRows;
  readonly #info: DraftHeadInfo;
  /** Those that the rows were made of: pair t is that of token t + 1, and its feature has seen all up to token t. */
  readonly #tokens: number[] = [];

  constructor(head: DraftingHead) {
    this.#rows = head.createRows();
    this.#info = head.info;
  }

  get bytes(): number {
    return this.#rows.bytes;
  }

  get rows(): number {
    return this.#tokens.length;
  }

  /** How many tokens at the beginning are the same. */
  reusable(tokens: Int32Array): number {
    return commonPrefix(this.#tokens, tokens);
  }

  /**
   * Drafts what follows the last token.
   *
   * @returns undefined when its feature is not there, or when there is more to catch up with than there is time for
   */
  async draft(view: SessionView, limits: TreeLimits): Promise<SequenceDraft | undefined> {
    const end = view.tokens.length - 1;
    if (end < 1 || view.hidden.length < end) return undefined;
    this.#keepRight(view.tokens, end);
    const start = this.#rows.end;
    const most = Math.ceil(CATCH_UP_MULTIPLICATIONS / this.#info.multiplicationsPerPair);
    if (end - start > most) {
      await this.#rows.append(pairsOf(view, start, start + most));
      this.#remember(view.tokens);
      return undefined;
    }
    const levels = Math.min(limits.levels, this.#info.contextLength - end + 1);
    const candidates = await this.#rows.draft(pairsOf(view, start, end), { ...limits, levels });
    this.#remember(view.tokens);
    return { candidates, pairs: end - start };
  }

  /** Forgets the rows that are not those of `tokens`, and begins anew where some are missing inside the window. */
  #keepRight(tokens: Int32Array, end: number): void {
    const right = this.reusable(tokens);
    this.#tokens.length = right;
    // The last pair is run again in any case: the draft begins at it.
    this.#rows.truncate(Math.min(right, end) - 1);
    const oldest = Math.max(0, end - this.#info.window);
    if (this.#rows.start > oldest || this.#rows.end < oldest) this.#rows.restart(oldest);
  }

  #remember(tokens: Int32Array): void {
    for (let i = this.#tokens.length; i <= this.#rows.end; i++) this.#tokens.push(tokens[i]);
  }
}

/** Pairs [start, end) of the view. */
function pairsOf({ tokens, hidden }: SessionView, start: number, end: number): Pairs {
  return { tokens: tokens.subarray(start + 1, end + 1), features: hidden.slice(start, end) };
}
