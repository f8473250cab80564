import type { TextDocument } from 'vscode-languageserver-textdocument';
import { longestPrompt } from './config.ts';
import type { DraftController } from './decode/controller.ts';
import type { DecodeStep } from './decode/decoder.ts';
import type { SessionPrompt } from './decode/session.ts';
import type { Drafter } from './draft/drafter.ts';
import type { LastSuggestion } from './draft/lastSuggestion.ts';
import type { DecodeMetrics } from './metrics.ts';
import type { ModelRuntime } from './modelRuntime.ts';
import type { Indentation, Position, Range } from './protocol.ts';
import { CompletionStream } from './text/completionStream.ts';
import { type EditPoint, editPointAt, writtenFrom } from './text/editPoint.ts';
import { chooseFimFormat, type FimFormat } from './text/fimFormat.ts';
import { buildPrompt, type Prompt, type PromptMemory } from './text/prompt.ts';
import { type PromptBudget, splitPromptBudget } from './text/promptBudget.ts';
import { type ContextDocument, SnippetChooser } from './text/snippets.ts';
import { type Tidied, tidy } from './text/tidy/tidy.ts';
import type { WorkspaceContext } from './text/workspaceContext.ts';
import type { Verifier } from './verify/verifier.ts';
import { documentId } from './workspace/documentId.ts';

/** Prompts of this many documents can be continued where they were left. */
const REMEMBERED_PROMPTS = 32;
/** Of the longest sequence that a model was made for; a suggestion takes the rest, and seldom more. */
const PROMPT_SHARE = 7 / 8;
/** Of the text before the cursor, to know the place again. */
const REMEMBERED_CHARACTERS = 4096;

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
  readonly verifier: Verifier;
  readonly lastSuggestion: LastSuggestion;
  readonly workspaceContext: WorkspaceContext;
  /** Longest suggestion. */
  readonly maxTokens: number;
  /** Longest prompt; absent: what suits the model. */
  readonly promptTokens?: number | undefined;
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
    this.#budget = promptBudget(parts);
  }

  /** The document is read before the first await. */
  async complete(place: CompletionPlace, options: CompletionOptions): Promise<Completion> {
    const point = editPoint(place);
    const document = documentId(place.document.uri);
    const prompt = this.#buildPrompt(place, point);
    const cursor = { document, textBefore: textBefore(point) };
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

  /** When the next prompt for this place will have what the workspace can give to it; a completion does not wait. */
  async gatherContext(place: CompletionPlace): Promise<void> {
    await this.#parts.workspaceContext.gather(place.document.uri, textBefore(editPoint(place)));
  }

  /** A document was closed: when it is opened again, it is another one. */
  forget(uri: string): void {
    this.#memories.delete(uri);
    this.#parts.workspaceContext.forget(uri);
  }

  #buildPrompt({ document, path, repo, around, context }: CompletionPlace, point: EditPoint): Prompt {
    const prompt = buildPrompt(
      {
        tokenizer: this.#parts.runtime.tokenizer,
        format: this.#format,
        budget: this.#budget,
        point,
        context,
        workspace: this.#parts.workspaceContext.at(document.uri, textBefore(point)),
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
    { onText, onStep, signal }: CompletionOptions,
  ) {
    const { runtime, drafter, controller, verifier, maxTokens } = this.#parts;
    const stream = new CompletionStream({
      tokenizer: runtime.tokenizer,
      point,
      stopTokenIds: prompt.stopTokenIds,
      maxTokens,
      tabSize,
    });
    const decoded = await runtime.decode(
      { drafter, controller, verifier },
      {
        prompt: sessionPrompt(prompt, document),
        maxNewTokens: maxTokens,
        endTokens: new Set([...prompt.stopTokenIds, ...runtime.model.info.eosTokenIds]),
        onToken: (token) => {
          const stop = stream.push(token);
          onText(stream.text);
          return stop === undefined ? 'continue' : 'stop';
        },
        onStep,
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

/** In line feeds, as models write. */
function textBefore(point: EditPoint): string {
  const end = writtenFrom(point);
  return point.text.slice(Math.max(0, end - REMEMBERED_CHARACTERS), end).replaceAll('\r\n', '\n');
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

/** How long a prompt may be, and what of it goes to which part. */
export function promptBudget({
  runtime,
  maxTokens,
  promptTokens,
}: Pick<CompleterParts, 'runtime' | 'maxTokens' | 'promptTokens'>): PromptBudget {
  const { model, tokenizer } = runtime;
  const suits = Math.min(longestPrompt, Math.floor(tokenizer.maxLength * PROMPT_SHARE));
  const fits = model.info.contextLength - maxTokens;
  return splitPromptBudget(Math.min(promptTokens ?? suits, fits));
}
