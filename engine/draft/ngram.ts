import type { TokenTree } from '../tree/tokenTree.ts';
import type { Drafter, SessionView, Verdict } from './drafter.ts';
import { DraftSearch, leastProbability } from './draftSearch.ts';
import { textPath } from './guess.ts';
import { type NgramParts, NgramSources } from './ngramSources.ts';

/** Prompt lookup alone (see NgramSources), as one tree. */
export class NgramDrafter implements Drafter {
  readonly name = 'ngram';
  readonly #sources: NgramSources;
  readonly #search: DraftSearch;

  constructor(parts: NgramParts) {
    this.#sources = new NgramSources(parts);
    this.#search = new DraftSearch(this.#sources.all);
  }

  get bytes(): number {
    return this.#sources.bytes;
  }

  get acceptedFrom(): ReadonlyMap<string, number> {
    return this.#sources.acceptedFrom;
  }

  propose(view: SessionView, budget: number): TokenTree {
    this.#sources.follow(view);
    return this.#search.draft(textPath(view.tokens.subarray(-1)), { budget, leastProbability });
  }

  observe(verdict: Verdict): void {
    this.#search.learn(verdict);
  }

  dispose(): void {}
}
