import type { Tokenizer } from '../model/tokenizer.ts';
import type { PromptEncoder } from './encodings.ts';
import type { FimFormat } from './fimFormat.ts';
import type { Slot, TemplatePart } from './promptTemplate.ts';
import type { Snippet } from './snippets.ts';

/** A stretch of the prompt: `text` is what `tokens[start..end)` say, control tokens by name. */
export interface PromptPart {
  readonly kind: 'control' | 'context' | 'header' | 'suffix' | 'prefix';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** A prompt to be read, special tokens by name. */
export const promptText = (parts: readonly PromptPart[]) => parts.map(({ text }) => text).join('');

interface EncodedText {
  readonly text: string;
  readonly tokens: Int32Array;
}

export interface PromptContents {
  readonly prefix: EncodedText;
  readonly suffix: EncodedText;
  readonly path: string | undefined;
  readonly repo: string | undefined;
  readonly snippets: readonly Snippet[];
}

/** What a file without a path is called between files that have one. */
const unnamed = 'untitled';

/** Puts the contents into the format's shape: repository, other files, then the document with its hole. */
export function renderPrompt(
  tokenizer: Tokenizer,
  encoder: PromptEncoder,
  format: FimFormat,
  contents: PromptContents,
) {
  const out = new PromptWriter(tokenizer, encoder);
  const { snippets, prefix, suffix, repo } = contents;
  if (tokenizer.bosTokenId !== undefined) out.control(tokenizer.bosTokenId);
  if (format.repo !== undefined && repo !== undefined && snippets.length > 0) {
    out.template(format.repo, 'header', { repo });
  }
  for (const { path, text } of snippets) out.template(format.contextFile!, 'context', { path, code: text });
  const path = contents.path ?? (snippets.length > 0 ? unnamed : undefined);
  const hole = path === undefined ? format.hole : format.namedHole;
  out.template(hole, 'header', path === undefined ? {} : { path }, { prefix, suffix });
  return out.finish();
}

class PromptWriter {
  readonly #tokenizer: Tokenizer;
  readonly #encoder: PromptEncoder;
  readonly #tokens: number[] = [];
  readonly #parts: PromptPart[] = [];

  constructor(tokenizer: Tokenizer, encoder: PromptEncoder) {
    this.#tokenizer = tokenizer;
    this.#encoder = encoder;
  }

  control(id: number): void {
    this.#add('control', this.#tokenizer.decodeVisible([id]), [id]);
  }

  /** Text between control tokens is encoded in one go, as it was in training; prefix and suffix come encoded. */
  template(
    parts: readonly TemplatePart[],
    kind: 'context' | 'header',
    texts: Partial<Record<Slot, string>>,
    encoded: Partial<Record<Slot, EncodedText>> = {},
  ): void {
    let pending = '';
    const writePending = () => {
      if (pending !== '') this.#add(kind, pending, this.#encoder.encode(pending));
      pending = '';
    };
    for (const part of parts) {
      if (part.kind === 'text') pending += part.text;
      else if (part.kind === 'slot' && encoded[part.slot] === undefined) pending += texts[part.slot] ?? '';
      else {
        writePending();
        if (part.kind === 'token') this.control(part.id);
        else this.#addEncoded(part.slot as 'prefix' | 'suffix', encoded[part.slot]!);
      }
    }
    writePending();
  }

  finish() {
    const { start, end } = this.#parts.find(({ kind }) => kind === 'prefix')!;
    return { tokens: Int32Array.from(this.#tokens), prefixRange: { start, end }, parts: this.#parts };
  }

  #addEncoded(kind: 'prefix' | 'suffix', { text, tokens }: EncodedText): void {
    this.#add(kind, text, tokens);
  }

  #add(kind: PromptPart['kind'], text: string, tokens: ArrayLike<number>): void {
    const start = this.#tokens.length;
    for (let i = 0; i < tokens.length; i++) this.#tokens.push(tokens[i]);
    this.#parts.push({ kind, text, start, end: this.#tokens.length });
  }
}
