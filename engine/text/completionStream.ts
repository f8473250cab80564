import type { Tokenizer } from '../model/tokenizer.ts';
import type { EditPoint } from './editPoint.ts';
import { isBlank } from './lines.ts';
import { isLooping } from './loops.ts';
import { createStopRules, type StopRules, type TextStop } from './stopRules.ts';

/** `loop`: the model repeats itself, and would until `maxTokens`. */
export type StopReason = TextStop | 'loop' | 'maxTokens';

export interface CompletionStreamOptions {
  readonly tokenizer: Tokenizer;
  readonly point: EditPoint;
  readonly maxTokens: number;
  /** Columns a tab takes. */
  readonly tabSize: number;
}

/** Decoded tokens in, the suggestion's text out: stops at the text's own end, in a loop, or at maxTokens. */
export class CompletionStream {
  readonly #options: CompletionStreamOptions;
  readonly #rules: StopRules;
  readonly #decoder;
  #tokens = 0;
  #stop: StopReason | undefined;

  constructor(options: CompletionStreamOptions) {
    this.#options = options;
    this.#rules = createStopRules(options.point, options.tabSize);
    this.#decoder = options.tokenizer.createDecoder();
  }

  /** @returns why to stop; tokens after that are ignored, as those of a verified draft may be */
  push(id: number): StopReason | undefined {
    this.#stop ??= this.#read(id);
    return this.#stop;
  }

  /** What was written so far, from `writtenFrom` on, in line feeds. Cut off under way, it ends with its last whole line. */
  get text(): string {
    const { text } = this.#rules;
    if (this.#stop !== 'maxTokens' && this.#stop !== 'loop') return text;
    const wholeLines = text.slice(0, Math.max(0, text.lastIndexOf('\n')));
    return isBlank(wholeLines) ? text : wholeLines;
  }

  #read(id: number): StopReason | undefined {
    this.#tokens++;
    const stop = this.#rules.push(this.#decoder.push(id));
    if (stop !== undefined) return stop;
    if (isLooping(this.#rules.text)) return 'loop';
    return this.#tokens >= this.#options.maxTokens ? 'maxTokens' : undefined;
  }
}
