import type { CompletionPlace } from './completer.ts';
import { longestPrompt } from './config.ts';
import type { ModelRuntime } from './modelRuntime.ts';
import { type EditPoint, textBefore } from './text/editPoint.ts';
import { chooseFimFormat, type FimFormat } from './text/fimFormat.ts';
import { buildPrompt, type Prompt, type PromptMemory } from './text/prompt.ts';
import { type PromptBudget, splitPromptBudget, suitablePrompt } from './text/promptBudget.ts';
import { SnippetChooser } from './text/snippets.ts';
import type { WorkspaceContext } from './text/workspaceContext.ts';

/** Prompts of this many documents can be continued where they were left. */
const REMEMBERED_PROMPTS = 32;

export interface DocumentPromptsParts {
  readonly runtime: ModelRuntime;
  readonly workspaceContext: WorkspaceContext;
  /** Longest suggestion. */
  readonly maxTokens: number;
  /** Longest prompt; absent: what suits the model. */
  readonly promptTokens?: number | undefined;
}

/** Prompts for places in documents, each as like the last one of its document as can be: the model has read that. */
export class DocumentPrompts {
  readonly #parts: DocumentPromptsParts;
  readonly #format: FimFormat;
  readonly #budget: PromptBudget;
  readonly #snippets = new SnippetChooser();
  /** By URI, the most recently used last. */
  readonly #memories = new Map<string, PromptMemory>();

  constructor(parts: DocumentPromptsParts) {
    this.#parts = parts;
    this.#format = chooseFimFormat(parts.runtime.tokenizer);
    this.#budget = promptBudget(parts);
  }

  build({ document, path, repo, around, context }: CompletionPlace, point: EditPoint): Prompt {
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

  /** Its versions are counted anew when it is opened again: what others quote of it has to be looked at. */
  forget(uri: string): void {
    this.#memories.delete(uri);
    for (const [other, memory] of this.#memories) {
      this.#memories.set(other, { ...memory, contextKey: undefined });
    }
  }
}

/** Of the model's context, however long suggestions may be: without a prompt they would be of nothing. */
const LEAST_PROMPT_SHARE = 1 / 2;

/** How long a prompt may be, and what of it goes to which part. */
export function promptBudget({
  runtime,
  maxTokens,
  promptTokens,
}: Omit<DocumentPromptsParts, 'workspaceContext'>): PromptBudget {
  const { model, tokenizer } = runtime;
  const suits = Math.min(longestPrompt, suitablePrompt(tokenizer.maxLength));
  const { contextLength } = model.info;
  const fits = Math.max(contextLength - maxTokens, Math.floor(contextLength * LEAST_PROMPT_SHARE));
  return splitPromptBudget(Math.min(promptTokens ?? suits, fits));
}
