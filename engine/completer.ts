import type { TextDocument } from 'vscode-languageserver-textdocument';
import { draftRoom, promptBudget } from './config.ts';
import type { DraftController } from './decode/controller.ts';
import type { SessionPrompt } from './decode/session.ts';
import type { Drafter } from './draft/drafter.ts';
import type { LastSuggestion } from './draft/lastSuggestion.ts';
import type { DecodeMetrics } from './metrics.ts';
import type { ModelRuntime } from './modelRuntime.ts';
import type { Indentation, Position, Range } from './protocol.ts';
import { CompletionStream } from './text/completionStream.ts';
import { type EditPoint, editPointAt, writtenFrom } from './text/editPoint.ts';
import { chooseFimFormat, type FimFormat } from './text/fimFormat.ts';
import { buildPrompt, type Prompt, type PromptBudget, type PromptMemory } from './text/prompt.ts';
import { type ContextDocument, SnippetChooser } from './text/snippets.ts';
import { type Tidied, tidy } from './text/tidy/tidy.ts';
import { greedyVerifier } from './verify/greedy.ts';
import { documentId } from './workspace/documentId.ts';

/** Prompts of this many documents can be continued where they were left. */
const REMEMBERED_PROMPTS = 32;

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
  readonly maxTokens: number;
  readonly onText: (text: string) => void;
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

export interface CompleterParts {
  readonly runtime: ModelRuntime;
  readonly drafter: Drafter | undefined;
  readonly controller: DraftController;
  readonly lastSuggestion: LastSuggestion;
}

/** From a place in a document to the text that belongs there: prompt, decode, stop, tidy. */
export class Completer {
  readonly #parts: CompleterParts;
  readonly #format: FimFormat;
  readonly #budget: PromptBudget;
  readonly #snippets = new SnippetChooser();
  readonly #memories = new Map<string, PromptMemory>();

  constructor(parts: CompleterParts) {
    this.#parts = parts;
    this.#format = chooseFimFormat(parts.runtime.tokenizer);
    this.#budget = budgetFor(parts.runtime.model.info.contextLength);
  }

  /** The document is read before the first await. */
  async complete(place: CompletionPlace, options: CompletionOptions): Promise<Completion> {
    const point = editPoint(place);
    const document = documentId(place.document.uri);
    const prompt = this.#buildPrompt(place, point);
    const cursor = { document, textBefore: point.text.slice(0, writtenFrom(point)) };
    this.#parts.lastSuggestion.begin(cursor);
    const { stream, decoded } = await this.#decode(
      prompt,
      document,
      point,
      place.indentation.tabSize,
      options,
    );
    this.#parts.lastSuggestion.record(cursor, stream.text);
    const outcome =
      decoded.finish === 'cancelled'
        ? ({ kind: 'cancelled' } as const)
        : tidy(stream.text, {
            point,
            indentation: place.indentation,
            specialTokenNames: this.#parts.runtime.tokenizer.specialTokens.keys(),
          });
    const acceptedFrom = Object.fromEntries(this.#parts.drafter?.acceptedFrom ?? []);
    return { outcome, prompt, tokens: decoded.tokens, metrics: decoded.metrics, acceptedFrom };
  }

  #buildPrompt({ document, path, repo, around, context }: CompletionPlace, point: EditPoint): Prompt {
    const prompt = buildPrompt(
      {
        tokenizer: this.#parts.runtime.tokenizer,
        format: this.#format,
        budget: this.#budget,
        point,
        context,
        snippets: this.#snippets,
        ...(path !== undefined && { path }),
        ...(repo !== undefined && { repo }),
        ...(around !== undefined && { around }),
      },
      this.#memories.get(document.uri),
    );
    this.#memories.delete(document.uri);
    this.#memories.set(document.uri, prompt.memory);
    if (this.#memories.size > REMEMBERED_PROMPTS) this.#memories.delete(this.#memories.keys().next().value!);
    return prompt;
  }

  async #decode(
    prompt: Prompt,
    document: string,
    point: EditPoint,
    tabSize: number,
    { maxTokens, onText, signal }: CompletionOptions,
  ) {
    const { runtime, drafter, controller } = this.#parts;
    const stream = new CompletionStream({
      tokenizer: runtime.tokenizer,
      point,
      stopTokenIds: prompt.stopTokenIds,
      maxTokens,
      tabSize,
    });
    const decoded = await runtime.decode(
      { drafter, controller, verifier: greedyVerifier },
      {
        prompt: sessionPrompt(prompt, document),
        maxNewTokens: maxTokens,
        endTokens: new Set([...prompt.stopTokenIds, ...runtime.model.info.eosTokenIds]),
        onToken: (token) => {
          const stop = stream.push(token);
          onText(stream.text);
          return stop === undefined ? 'continue' : 'stop';
        },
        signal,
      },
    );
    return { stream, decoded };
  }
}

function editPoint({ document, position, selectedSuggestion }: CompletionPlace): EditPoint {
  const offset = document.offsetAt(position);
  const line = Math.min(position.line, document.lineCount - 1);
  return editPointAt(document.getText(), offset, line, selectedSuggestion);
}

function sessionPrompt({ tokens, prefixRange, parts }: Prompt, document: string): SessionPrompt {
  const suffix = parts.find(({ kind }) => kind === 'suffix');
  return {
    tokens,
    prefix: prefixRange,
    suffix: { start: suffix?.start ?? 0, end: suffix?.end ?? 0 },
    document,
  };
}

/** The budget, scaled down to a model whose context is shorter than prompt, completion and drafts. */
function budgetFor(contextLength: number): PromptBudget {
  const { prefixTokens, suffixTokens, contextTokens } = promptBudget;
  const wanted = prefixTokens + suffixTokens + contextTokens;
  const share = Math.min(1, Math.max(0, contextLength - 4 * draftRoom) / wanted);
  return {
    prefixTokens: Math.max(16, Math.floor(prefixTokens * share)),
    suffixTokens: Math.floor(suffixTokens * share),
    contextTokens: Math.floor(contextTokens * share),
  };
}
