import type { CorpusDocument } from '../corpus/document.ts';
import type { Random } from '../random.ts';
import type { BpeEncoder } from '../tokenizer/bpeEncoder.ts';
import type { SpecialToken } from '../tokenizer/tokenizerFile.ts';
import type { EditorSamples } from './editorSample.ts';
import type { PackageContext } from './packageContext.ts';
import { pickSpan } from './span.ts';

/** Samples that are the engine's own prompts; the others vary, so that the model bears what is different. */
const EDITOR_SHARE = 0.7;

type Order = 'suffix first' | 'prefix first' | 'plain';

const ORDER_WEIGHTS: readonly (readonly [Order, number])[] = [
  ['suffix first', 0.7],
  ['prefix first', 0.08],
  ['plain', 0.22],
];

const CHARACTERS_A_TOKEN = 3.4;
const SPAN_TRIES = 8;
/** Other files of the package go before the file, in so many of the samples that have room for them. */
const CONTEXT_CHANCE = 0.5;
const PATH_CHANCE = 0.6;
const REPO_NAME_CHANCE = 0.2;

/** The files of one package that is being encoded. */
export interface Package {
  readonly id: string;
  readonly documents: readonly CorpusDocument[];
  readonly context: PackageContext;
}

/** Cut at a line's start where the cut would fall inside a line. */
function tailFromLine(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const cut = text.length - maxCharacters;
  const line = text.indexOf('\n', cut) + 1;
  return line > 0 && line < text.length ? text.slice(line) : text.slice(cut);
}

function headToLine(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const line = text.lastIndexOf('\n', maxCharacters);
  return text.slice(0, line > 0 ? line + 1 : maxCharacters);
}

/**
 * Writes training samples: the engine's own prompts, and some in the same format with lengths, orders and other files
 * at random:
 * `[<|repo_name|>R\n] (<|file_sep|>path\ntext)* [<|file_sep|>path\n] <|fim_suffix|>S<|fim_prefix|>P<|fim_middle|>M<|endoftext|>`,
 * some prefix-first (`<|fim_prefix|>P<|fim_suffix|>S<|fim_middle|>M`), some plain text.
 */
export class SampleBuilder {
  readonly #encoder: BpeEncoder;
  readonly #editorSamples: EditorSamples;
  readonly #random: Random;

  constructor(encoder: BpeEncoder, editorSamples: EditorSamples, random: Random) {
    this.#encoder = encoder;
    this.#editorSamples = editorSamples;
    this.#random = random;
  }

  /** One sample of at most `maxTokens`; undefined when this file gave none. */
  build(owner: Package, document: CorpusDocument, maxTokens: number): number[] | undefined {
    return this.#random.chance(EDITOR_SHARE)
      ? this.#editorSample(owner, document, maxTokens)
      : this.#variedSample(owner, document, maxTokens);
  }

  #editorSample({ context }: Package, document: CorpusDocument, maxTokens: number): number[] | undefined {
    for (let attempt = 0; attempt < SPAN_TRIES; attempt++) {
      const span = pickSpan(document.text, this.#random);
      const sample = span && this.#editorSamples.build(context, document, span, this.#id('<|endoftext|>'));
      if (sample && sample.length <= maxTokens) return sample;
    }
    return undefined;
  }

  #variedSample(owner: Package, document: CorpusDocument, maxTokens: number): number[] | undefined {
    const random = this.#random;
    const budget = Math.round(random.logUniform(Math.min(96, maxTokens), maxTokens));
    const contextTokens =
      random.chance(CONTEXT_CHANCE) && budget > 256 ? Math.round(budget * (0.2 + 0.4 * random.next())) : 0;
    const context = contextTokens > 0 ? this.#context(owner, document, contextTokens) : [];
    const header = context.length > 0 || random.chance(PATH_CHANCE) ? this.#fileHeader(document.path) : [];
    const body = this.#body(document, budget - context.length - header.length - 5);
    if (!body) return undefined;
    const sample = [...context, ...header, ...body, this.#id('<|endoftext|>')];
    return sample.length <= maxTokens ? sample : undefined;
  }

  /** Plain text of exactly `tokens` tokens, or fewer where the file ends: fills what samples leave of a window. */
  filler(document: CorpusDocument, tokens: number): number[] {
    const { text } = document;
    const start =
      text.length > tokens * 8 ? text.indexOf('\n', this.#random.integer(text.length - tokens * 8)) + 1 : 0;
    return this.#encoder.encode(text.slice(start, start + tokens * 8)).slice(0, tokens);
  }

  #id(token: SpecialToken): number {
    return this.#encoder.special(token);
  }

  #fileHeader(path: string): number[] {
    return [this.#id('<|file_sep|>'), ...this.#encoder.encode(`${path}\n`)];
  }

  /** Pieces of 1 to 3 other files, nearest folders first in half of the cases. */
  #context(owner: Package, document: CorpusDocument, tokens: number): number[] {
    const random = this.#random;
    const others = owner.documents.filter((other) => other !== document && other.language !== 'json');
    if (others.length === 0) return [];
    const folder = document.path.replace(/[^/]*$/, '');
    const near = others.filter((other) => other.path.startsWith(folder));
    const files = 1 + random.integer(3);
    const context = random.chance(REPO_NAME_CHANCE)
      ? [this.#id('<|repo_name|>'), ...this.#encoder.encode(`${owner.id.replace(/^\w+:|@[^@]*$/g, '')}\n`)]
      : [];
    for (let file = 0; file < files; file++) {
      const pool = near.length > 0 && random.chance(0.5) ? near : others;
      const other = pool[random.integer(pool.length)]!;
      const header = this.#fileHeader(other.path);
      const room = Math.floor((tokens - context.length) / (files - file)) - header.length;
      if (room < 24) break;
      context.push(...header, ...this.#piece(other.text, room));
    }
    return context;
  }

  /** Whole lines from a random place, at most `tokens` of them encoded. */
  #piece(text: string, tokens: number): number[] {
    const characters = Math.round(tokens * CHARACTERS_A_TOKEN);
    const start =
      text.length > characters
        ? text.lastIndexOf('\n', this.#random.integer(text.length - characters)) + 1
        : 0;
    return this.#encoder.encode(headToLine(text.slice(start), characters)).slice(0, tokens);
  }

  #body(document: CorpusDocument, tokens: number): number[] | undefined {
    const order = this.#random.choose(ORDER_WEIGHTS);
    if (tokens < 32) return undefined;
    if (order === 'plain') return this.#piece(document.text, tokens);
    for (let attempt = 0; attempt < SPAN_TRIES; attempt++) {
      const span = pickSpan(document.text, this.#random);
      if (!span) continue;
      const middle = this.#encoder.encode(document.text.slice(span.start, span.end));
      const room = tokens - middle.length;
      if (room < 16) continue;
      return this.#fillInTheMiddle(
        order,
        document.text.slice(0, span.start),
        middle,
        document.text.slice(span.end),
        room,
      );
    }
    return undefined;
  }

  #fillInTheMiddle(
    order: 'suffix first' | 'prefix first',
    before: string,
    middle: number[],
    after: string,
    room: number,
  ): number[] {
    const suffixShare = this.#random.chance(0.1) ? 0 : 0.1 + 0.35 * this.#random.next();
    const suffixRoom = Math.round(room * suffixShare);
    const suffix = this.#encoder
      .encode(headToLine(after, suffixRoom * CHARACTERS_A_TOKEN))
      .slice(0, suffixRoom);
    const prefixRoom = room - suffix.length;
    const prefix = this.#encoder
      .encode(tailFromLine(before, prefixRoom * CHARACTERS_A_TOKEN))
      .slice(-prefixRoom);
    const markedSuffix = [this.#id('<|fim_suffix|>'), ...suffix];
    const markedPrefix = [this.#id('<|fim_prefix|>'), ...prefix];
    const start =
      order === 'suffix first' ? [...markedSuffix, ...markedPrefix] : [...markedPrefix, ...markedSuffix];
    return [...start, this.#id('<|fim_middle|>'), ...middle];
  }
}
