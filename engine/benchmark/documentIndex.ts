import type { Tokenizer } from '../model/tokenizer.ts';
import { withLineFeeds } from '../text/withLineFeeds.ts';
import { NgramIndex } from '../workspace/ngramIndex.ts';

/**
 * The n-grams of some documents as an editor has them: the one that is being completed stands in it without what is
 * held out, or every draft would be copied from there.
 */
export class DocumentIndex {
  readonly ngrams: NgramIndex;
  readonly #tokenizer: Pick<Tokenizer, 'encode'>;
  readonly #tokens = new Map<string, Int32Array>(); // by id, of whole documents

  constructor(tokenizer: Pick<Tokenizer, 'encode'>, vocabSize: number) {
    this.#tokenizer = tokenizer;
    this.ngrams = new NgramIndex({ vocabSize });
  }

  add(id: string, text: string): void {
    const tokens = this.#tokenizer.encode(withLineFeeds(text));
    this.#tokens.set(id, tokens);
    this.ngrams.set(id, tokens);
  }

  /** The document is what it is while a part of it is held out, until `restore`. */
  holdOut(id: string, rest: string): void {
    this.ngrams.set(id, this.#tokenizer.encode(withLineFeeds(rest)));
  }

  restore(id: string): void {
    this.ngrams.set(id, this.#tokens.get(id)!);
  }
}
