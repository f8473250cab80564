import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { DraftController } from './decode/controller.ts';
import { type DecodeStep, nothingDecoded } from './decode/decoder.ts';
import type { SessionPrompt } from './decode/session.ts';
import { DocumentPrompts, type DocumentPromptsParts } from './documentPrompts.ts';
import type { Drafter } from './draft/drafter.ts';
import type { CursorPlace, LastSuggestion } from './draft/lastSuggestion.ts';
import type { DecodeMetrics } from './metrics.ts';
import type { Indentation, Position, Range } from './protocol.ts';
import type { SamplingSettings } from './sampling/samplingSettings.ts';
import type { AskSyntax, OpenSyntaxes } from './syntax/openSyntaxes.ts';
import { CompletionStream } from './text/completionStream.ts';
import { type EditPoint, editPointAt, textBefore } from './text/editPoint.ts';
import type { Prompt } from './text/prompt.ts';
import type { ContextDocument } from './text/snippets.ts';
import { shapePartial, type Tidied, tidy } from './text/tidy/tidy.ts';
import { createVerifier } from './verify/createVerifier.ts';
import type { Verifier } from './verify/verifier.ts';
import { documentId } from './workspace/documentId.ts';

/** Samples that are drawn for an alternative before there are taken to be no others. */
const ATTEMPTS_EACH = 2;

export interface CompletionPlace {
  readonly document: TextDocument;
  readonly position: Position;
  readonly selectedSuggestion?: { readonly range: Range; readonly text: string } | undefined;
  readonly indentation: Indentation;
  /** As people read it: relative to the workspace. Absent for what is no file. */
  readonly path?: string | undefined;
  readonly repo?: string | undefined;
  /** The other cells of a notebook. */
  readonly around?: { readonly before: string; readonly after: string } | undefined;
  readonly context: readonly ContextDocument[];
}

export interface CompletionOptions {
  readonly onText: (text: string) => void;
  /** See DecodeRequest.onStep. */
  readonly onStep?: (step: DecodeStep) => void;
  /** What it is sampled with; absent: as the completer is made to write. */
  readonly sampling?: SamplingSettings | undefined;
  readonly signal: AbortSignal;
}

export interface Completion {
  readonly outcome: Tidied | { readonly kind: 'cancelled' };
  readonly prompt: Prompt;
  readonly tokens: readonly number[];
  readonly metrics: DecodeMetrics;
  /** Accepted tokens by the workspace file they were drafted from. */
  readonly acceptedFrom: Readonly<Record<string, number>>;
}

/** A suggestion that has a text. */
export interface Alternative extends Completion {
  readonly outcome: Extract<Tidied, { kind: 'text' }>;
}

export interface AlternativesOptions {
  /** At most so many. */
  readonly count: number;
  /** Texts that are suggested already. */
  readonly known: readonly string[];
  /** A temperature above 0. Each attempt has a seed of its own, from this one on. */
  readonly sampling: SamplingSettings;
  /** After this time no further one is begun, once one has a text, known or not. */
  readonly withinMs: number;
  readonly signal: AbortSignal;
}

export interface CompleterParts extends DocumentPromptsParts {
  readonly drafter: Drafter | undefined;
  readonly controller: DraftController;
  readonly verifier: Verifier;
  readonly lastSuggestion: LastSuggestion;
  readonly syntaxes: OpenSyntaxes;
}

/** A place, and what is asked of the model for it. */
interface CompletionTask {
  readonly askedMs: number;
  readonly point: EditPoint;
  readonly cursor: CursorPlace;
  readonly prompt: Prompt;
  readonly indentation: Indentation;
  readonly askSyntax: AskSyntax;
}

interface WriteOptions extends CompletionOptions {
  /** Takes what the model wrote, called off or not, before the next request begins. */
  readonly onWritten?: (text: string) => void;
}

/** From a place in a document to the text that belongs there: prompt, decode, stop, tidy. */
export class Completer {
  readonly #parts: CompleterParts;
  readonly #prompts: DocumentPrompts;

  constructor(parts: CompleterParts) {
    this.#parts = parts;
    this.#prompts = new DocumentPrompts(parts);
  }

  /** The document is read before the first await. */
  async complete(place: CompletionPlace, options: CompletionOptions): Promise<Completion> {
    const task = this.#begin(place);
    const { lastSuggestion } = this.#parts;
    return this.#write(task, { ...options, onWritten: (text) => lastSuggestion.record(task.cursor, text) });
  }

  /**
   * Sampled suggestions, each with a text of its own: one prompt, evaluated once. The drafts for them are those for
   * the most probable suggestion, which they follow for a while. The document is read before the first await.
   */
  async alternatives(place: CompletionPlace, options: AlternativesOptions): Promise<Alternative[]> {
    const { count, known, sampling, withinMs, signal } = options;
    let task = this.#begin(place);
    const started = performance.now();
    const texts = new Set(known);
    const found: Alternative[] = [];
    let hasText = false;
    for (let attempt = 0; attempt < count * ATTEMPTS_EACH && found.length < count; attempt++) {
      if (signal.aborted || (hasText && performance.now() - started > withinMs)) break;
      const completion = await this.#write(task, {
        onText: () => {},
        sampling: { ...sampling, seed: sampling.seed + attempt },
        signal,
      });
      task = { ...task, askedMs: performance.now() };
      const { outcome } = completion;
      if (outcome.kind !== 'text') continue;
      hasText = true;
      if (texts.has(outcome.text)) continue;
      texts.add(outcome.text);
      found.push({ ...completion, outcome });
    }
    return found;
  }

  /**
   * Evaluates what a completion here will begin with, so that the first key finds it done. The document is read
   * before the first await, and again when the workspace has answered, unless it has changed by then.
   *
   * @returns the tokens evaluated
   */
  async prepare(place: CompletionPlace, signal: AbortSignal): Promise<number> {
    const { document } = place;
    const { version } = document;
    await this.gatherContext(place);
    if (signal.aborted || document.version !== version) return 0;
    const { prompt, cursor } = this.#begin(place);
    if (prompt.tokens.length === 0) return 0;
    return this.#parts.runtime.prefill(sessionPrompt(prompt, cursor.document), signal);
  }

  /** When all that a completion here can use is there: it takes what there is and does not wait. */
  async gatherContext(place: CompletionPlace): Promise<void> {
    const { workspaceContext, syntaxes } = this.#parts;
    await Promise.all([
      workspaceContext.gather(place.document.uri, textBefore(editPoint(place))),
      syntaxes.prepare(place.document),
    ]);
  }

  /** The workspace has become whole. */
  workspaceIndexed(): void {
    this.#parts.workspaceContext.askAgain();
  }

  /** A document was closed: when it is opened again, it is another one. */
  forget(uri: string): void {
    this.#prompts.forget(uri);
    this.#parts.workspaceContext.forget(uri);
    this.#parts.syntaxes.forget(uri);
  }

  #begin(place: CompletionPlace): CompletionTask {
    const askedMs = performance.now();
    const point = editPoint(place);
    const document = documentId(place.document.uri);
    const prompt = this.#prompts.build(place, point);
    const cursor = { document, textBefore: textBefore(point) };
    const askSyntax = this.#parts.syntaxes.read(place.document);
    return { askedMs, point, cursor, prompt, indentation: place.indentation, askSyntax };
  }

  async #write(
    { askedMs, point, cursor, prompt, indentation, askSyntax }: CompletionTask,
    options: WriteOptions,
  ): Promise<Completion> {
    const { runtime, drafter, controller, verifier, lastSuggestion } = this.#parts;
    const maxTokens = this.#maxTokensAfter(prompt);
    const { onText, onStep, onWritten, sampling, signal } = options;
    const stream = new CompletionStream({
      tokenizer: runtime.tokenizer,
      point,
      maxTokens,
      tabSize: indentation.tabSize,
    });
    const context = {
      point,
      indentation,
      specialTokenNames: [...runtime.tokenizer.specialTokens.keys()],
    };
    if (prompt.tokens.length === 0) return nothingToAsk(prompt);
    let acceptedFrom: Completion['acceptedFrom'] = {};
    const { finish, tokens, metrics } = await runtime.decode(
      { drafter, controller, verifier: sampling ? createVerifier(sampling) : verifier },
      {
        prompt: sessionPrompt(prompt, cursor.document),
        maxNewTokens: maxTokens,
        endTokens: new Set([...prompt.stopTokenIds, ...runtime.model.info.eosTokenIds]),
        onToken: (token) => (stream.push(token) === undefined ? 'continue' : 'stop'),
        onStep: (step) => {
          onText(shapePartial(stream.text, context));
          onStep?.(step);
        },
        signal,
        askedMs,
      },
      {
        begin: () => lastSuggestion.begin(cursor),
        end: ({ metrics: { numAcceptedTokens } }) => {
          // A drafter that was not asked still has those of the text before.
          if (numAcceptedTokens > 0) acceptedFrom = Object.fromEntries(drafter?.acceptedFrom ?? []);
          onWritten?.(stream.text);
        },
      },
    );
    const outcome: Completion['outcome'] =
      finish === 'cancelled' ? { kind: 'cancelled' } : tidy(stream.text, { ...context, syntax: askSyntax() });
    return { outcome, prompt, tokens, metrics, acceptedFrom };
  }

  /** A suggestion that ends where the context does ends as one that is as long as may be. */
  #maxTokensAfter({ tokens }: Prompt): number {
    const { runtime, maxTokens } = this.#parts;
    return Math.min(maxTokens, runtime.model.info.contextLength - tokens.length);
  }
}

function editPoint({ document, position, selectedSuggestion }: CompletionPlace): EditPoint {
  const offset = document.offsetAt(position);
  const line = Math.min(position.line, document.lineCount - 1);
  return editPointAt(document.getText(), offset, line, selectedSuggestion);
}

/** A model that knows no gaps, at the beginning of a document. */
function nothingToAsk(prompt: Prompt): Completion {
  const { tokens, metrics } = nothingDecoded('end');
  return {
    outcome: { kind: 'empty', reason: 'nothing stands before the cursor' },
    prompt,
    tokens,
    metrics,
    acceptedFrom: {},
  };
}

/** A prompt as a session takes it. */
export function sessionPrompt({ tokens, prefixRange, parts }: Prompt, document: string): SessionPrompt {
  const suffix = parts.find(({ kind }) => kind === 'suffix');
  return {
    tokens,
    prefix: prefixRange,
    suffix: { start: suffix?.start ?? 0, end: suffix?.end ?? 0 },
    document,
  };
}
