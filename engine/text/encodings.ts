import type { Tokenizer } from '../model/tokenizer.ts';

/** Texts of a prompt and their tokens. */
export type Encodings = ReadonlyMap<string, Int32Array>;

/** Encodes the texts of one prompt: each once, and none that was in the prompt before it. */
export class PromptEncoder {
  readonly #tokenizer: Tokenizer;
  readonly #before: Encodings | undefined;
  readonly #texts = new Map<string, Int32Array>();

  constructor(tokenizer: Tokenizer, before: Encodings | undefined) {
    this.#tokenizer = tokenizer;
    this.#before = before;
  }

  /** What was encoded, to be handed to the next prompt. */
  get texts(): Encodings {
    return this.#texts;
  }

  encode(text: string): Int32Array {
    const known = this.#texts.get(text) ?? this.#before?.get(text) ?? this.#tokenizer.encode(text);
    this.#texts.set(text, known);
    return known;
  }
}
