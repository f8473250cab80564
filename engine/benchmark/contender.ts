import { extname } from 'node:path';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { Completer, type CompletionPlace } from '../completer.ts';
import type { DecodeStep } from '../decode/decoder.ts';
import { LastSuggestion } from '../draft/lastSuggestion.ts';
import type { Suggestion } from '../eval/completeTask.ts';
import type { DecodeMetrics } from '../metrics.ts';
import type { ModelRuntime } from '../modelRuntime.ts';
import type { Algorithm, Range } from '../protocol.ts';
import type { Speculation } from '../speculation/speculation.ts';
import { OpenSyntaxes } from '../syntax/openSyntaxes.ts';
import { indentationOf } from '../text/indentationOf.ts';
import { type FindSimilar, WorkspaceContext } from '../text/workspaceContext.ts';
import type { Verifier } from '../verify/verifier.ts';
import { keystrokeBefore } from './keystrokeBefore.ts';
import type { BenchmarkTask } from './tasks/task.ts';

export interface ContenderParts {
  readonly runtime: ModelRuntime;
  readonly algorithm: Algorithm;
  readonly speculation: Speculation;
  readonly verifier: Verifier;
  /** What the workspace gives to a prompt. */
  readonly findSimilar: FindSimilar;
  readonly maxNewTokens: number;
  /** Longest prompt; absent: what suits the model. */
  readonly promptTokens?: number | undefined;
}

/** What an algorithm made of a task, and how long that took. Times in ms. */
export interface Attempt {
  readonly algorithm: Algorithm;
  readonly tokens: readonly number[];
  /** Absent: nothing would be shown. */
  readonly suggestion: Suggestion | undefined;
  readonly metrics: DecodeMetrics;
  /** Kept of the longest completion of each class of tasks. */
  readonly steps: readonly DecodeStep[];
  /** From the request to the first token, the prompt's making included. */
  readonly ttftMs: number;
  readonly latencyMs: number;
}

/** Passes of the request before: it was under way when the next key was pressed, and the drafter knew the place. */
const STEPS_BEFORE = 2;

/**
 * One algorithm, completing as an editor's requests are completed: the same prompt, stop rules and tidying. Its drafter
 * gets nothing of what it suggested before at the place: where that still holds, an editor does not ask.
 */
export class Contender {
  readonly #parts: ContenderParts;
  readonly #completer: Completer;

  constructor(parts: ContenderParts) {
    const { runtime, speculation, verifier, findSimilar, maxNewTokens, promptTokens } = parts;
    this.#parts = parts;
    this.#completer = new Completer({
      runtime,
      drafter: speculation.drafter,
      controller: speculation.controller,
      verifier,
      lastSuggestion: new LastSuggestion(
        (text) => runtime.tokenizer.encode(text),
        runtime.model.info.vocabSize,
      ),
      workspaceContext: new WorkspaceContext(findSimilar),
      syntaxes: new OpenSyntaxes(() => {}),
      maxTokens: maxNewTokens,
      promptTokens,
    });
  }

  get algorithm(): Algorithm {
    return this.#parts.algorithm;
  }

  get runtime(): ModelRuntime {
    return this.#parts.runtime;
  }

  /** Memory of the drafter. */
  get drafterBytes(): number {
    return this.#parts.speculation.drafter?.bytes ?? 0;
  }

  /**
   * Completes a task after the keystroke before it was asked for, so that prompt and drafter are as warm as they are
   * in an editor.
   *
   * @returns undefined when it was cancelled
   */
  async complete(task: BenchmarkTask, signal: AbortSignal): Promise<Attempt | undefined> {
    await this.#completer.gatherContext(placeOf(task, task.before));
    await this.#askBefore(task, signal);
    const attempt = await this.#attempt(task, signal);
    // The next task in this document is another one.
    this.#completer.forget(task.document.uri);
    return attempt;
  }

  dispose(): Promise<void> {
    return this.#parts.speculation.dispose();
  }

  async #askBefore(task: BenchmarkTask, signal: AbortSignal): Promise<void> {
    const next = new AbortController();
    let steps = 0;
    await this.#completer.complete(placeOf(task, keystrokeBefore(task.before)), {
      onText: () => {},
      onStep: () => {
        if (++steps === STEPS_BEFORE) next.abort();
      },
      signal: AbortSignal.any([signal, next.signal]),
    });
  }

  async #attempt(task: BenchmarkTask, signal: AbortSignal): Promise<Attempt | undefined> {
    const place = placeOf(task, task.before);
    const steps: DecodeStep[] = [];
    const started = performance.now();
    let ttftMs: number | undefined;
    const completion = await this.#completer.complete(place, {
      onText: () => {
        ttftMs ??= performance.now() - started;
      },
      onStep: (step) => steps.push(step),
      signal,
    });
    const latencyMs = performance.now() - started;
    const { outcome, tokens, metrics } = completion;
    if (outcome.kind === 'cancelled') return undefined;
    return {
      algorithm: this.algorithm,
      tokens,
      suggestion: outcome.kind === 'text' ? inserted(outcome, place) : undefined,
      metrics,
      steps,
      ttftMs: ttftMs ?? latencyMs,
      latencyMs,
    };
  }
}

function placeOf({ document: { uri, path }, after }: BenchmarkTask, before: string): CompletionPlace {
  const text = before + after;
  const document = TextDocument.create(uri, extname(path).slice(1), 1, text);
  return {
    document,
    position: document.positionAt(before.length),
    indentation: indentationOf(text),
    path,
    context: [],
  };
}

function inserted(
  { text, range }: { text: string; range: Range },
  { position }: CompletionPlace,
): Suggestion {
  return { text, covered: range.end.character - position.character };
}
