import { type Feature, featuresOf } from './likeness.ts';
import type { Snippet } from './snippets.ts';

/** What the workspace has that is like a place. */
export interface SimilarPieces {
  /** The most similar one first. */
  readonly pieces: readonly Snippet[];
  readonly rarity: ReadonlyMap<Feature, number>;
}

export type FindSimilar = (near: string) => Promise<SimilarPieces>;

/** What a prompt may take of the workspace. As long as `key` is the same, the place has not changed much. */
export interface WorkspacePieces extends SimilarPieces {
  readonly key: number;
}

interface Asked {
  /** Of the place; undefined when it has to be asked about again. */
  features: ReadonlySet<Feature> | undefined;
  found: WorkspacePieces;
  pending: Promise<void>;
}

const nothing: WorkspacePieces = { pieces: [], rarity: new Map(), key: 0 };

/** Lines before the cursor that make the place. */
const PLACE_LINES = 20;
/** With less of its words in common, a place is another one. A key changes next to nothing, some lines do. */
const SAME_PLACE = 0.5;
/** Documents whose answers are kept. */
const REMEMBERED = 32;

/**
 * Asks the workspace in the background and knows the last answer. A prompt never waits, and an answer that changes
 * the prompt's beginning is prefilled again; so the question is asked once a place, not once a key.
 */
export class WorkspaceContext {
  readonly #find: FindSimilar;
  readonly #asked = new Map<string, Asked>(); // by document
  #lastKey = 0;

  constructor(find: FindSimilar) {
    this.#find = find;
  }

  /** @param near the text right before the cursor */
  at(document: string, near: string): WorkspacePieces {
    return this.#ask(document, near).found;
  }

  /** When what `at` knows is an answer for this place. */
  async gather(document: string, near: string): Promise<void> {
    await this.#ask(document, near).pending;
  }

  /** The workspace has more to say than before: each place is asked about once more, and its last answer holds till then. */
  askAgain(): void {
    for (const asked of this.#asked.values()) asked.features = undefined;
  }

  forget(document: string): void {
    this.#asked.delete(document);
  }

  #ask(document: string, near: string): Asked {
    const features = featuresOf(near.split('\n').slice(-PLACE_LINES).join('\n'));
    const known = this.#asked.get(document);
    if (known?.features && similarity(known.features, features) >= SAME_PLACE) return known;
    const asked: Asked = { features, found: known?.found ?? nothing, pending: Promise.resolve() };
    asked.pending = this.#find(near).then((found) => {
      asked.found = { ...found, key: ++this.#lastKey };
    });
    this.#asked.delete(document);
    this.#asked.set(document, asked);
    if (this.#asked.size > REMEMBERED) this.#asked.delete(this.#asked.keys().next().value!);
    return asked;
  }
}

/** Jaccard. */
function similarity(a: ReadonlySet<Feature>, b: ReadonlySet<Feature>): number {
  let common = 0;
  for (const feature of a) if (b.has(feature)) common++;
  const union = a.size + b.size - common;
  return union === 0 ? 1 : common / union;
}
