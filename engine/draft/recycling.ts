import type { TokenTree } from '../tree/tokenTree.ts';
import type { Drafter, SessionView, Verdict } from './drafter.ts';
import { DraftSearch, leastProbability } from './draftSearch.ts';
import { RecycledSource } from './recycledSource.ts';

/** Token recycling alone. Needs a target that hands out its successors (TargetOutputs.successors). */
export class RecyclingDrafter implements Drafter {
  readonly name = 'recycle';
  readonly #source: RecycledSource;
  readonly #search: DraftSearch;

  constructor(vocabSize: number) {
    this.#source = new RecycledSource(vocabSize);
    this.#search = new DraftSearch([this.#source]);
  }

  get bytes(): number {
    return this.#source.bytes;
  }

  propose(view: SessionView, budget: number): TokenTree {
    return this.#search.draft(this.#source.follow(view), { budget, leastProbability });
  }

  observe(verdict: Verdict): void {
    this.#search.learn(verdict);
    this.#source.refresh(verdict);
  }

  dispose(): void {}
}
