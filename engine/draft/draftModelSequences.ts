import type { LanguageModel } from '../model/languageModel.ts';
import type { SessionView } from './drafter.ts';
import { DraftModelSequence } from './draftModelSequence.ts';

/** Fewer rows are evaluated again sooner than another sequence is given up for them. */
const WORTH_REUSING = 32;

interface Entry {
  readonly sequence: DraftModelSequence;
  session: number;
}

/**
 * The draft model's prefix cache: rows of the sequences that the target lately worked on, so that the prompt of a request
 * is not evaluated again, whichever document it comes from and however sessions take turns.
 */
export class DraftModelSequences {
  readonly #model: LanguageModel;
  readonly #limit: number;
  /** Least recently used first. */
  #entries: Entry[] = [];

  constructor(model: LanguageModel, limit: number) {
    this.#model = model;
    this.#limit = limit;
  }

  get bytes(): number {
    return this.#entries.reduce((sum, { sequence }) => sum + sequence.bytes, 0);
  }

  /** @param tokens what of the view's tokens the draft model is to follow */
  of(view: SessionView, tokens: Int32Array): DraftModelSequence {
    const entry = this.#entries.find(({ session }) => session === view.id) ?? this.#begin(view.id, tokens);
    this.#entries = [...this.#entries.filter((other) => other !== entry), entry];
    return entry.sequence;
  }

  dispose(): void {
    for (const { sequence } of this.#entries.splice(0)) sequence.dispose();
  }

  #begin(session: number, tokens: Int32Array): Entry {
    const known = this.#reusable(tokens);
    if (!known) return { session, sequence: new DraftModelSequence(this.#model, tokens.length) };
    known.sequence.reserve(tokens.length);
    known.session = session;
    return known;
  }

  /** The one that shares most; with no space for another one, the least recently used one in the end. */
  #reusable(tokens: Int32Array): Entry | undefined {
    let best: Entry | undefined;
    let most = -1;
    for (const entry of this.#entries) {
      const shared = entry.sequence.shared(tokens);
      if (shared > most) [best, most] = [entry, shared];
    }
    if (best && (most >= WORTH_REUSING || 2 * most >= best.sequence.length)) return best;
    return this.#entries.length < this.#limit ? undefined : this.#entries[0];
  }
}
