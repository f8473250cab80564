import * as vscode from 'vscode';
import type { CompleteResult, CompletionMetrics } from '../engine/protocol.ts';
import { CompletionRequests } from './completionRequests.ts';
import type { EngineClient } from './engineClient.ts';
import { type DocumentPlace, placeAfterTyping, placeOf, textOf, toEdit, toItem } from './place.ts';
import { type Edit, SuggestionCache } from './suggestionCache.ts';
import { suggestionPlace } from './suggestionPlace.ts';
import type { WorkspaceSync } from './workspaceSync.ts';

export interface ProviderContext {
  /** Undefined while there is no engine to ask. */
  readonly engine: () => EngineClient | undefined;
  readonly maySuggestIn: (document: vscode.TextDocument) => boolean;
  /** How many suggestions to cycle through. */
  readonly suggestions: () => number;
  readonly sync: WorkspaceSync;
  readonly log: vscode.LogOutputChannel;
  readonly onCompleted: (metrics: CompletionMetrics) => void;
}

/** Answers VS Code: from what is known already, from the request under way, or from the engine. */
export class InlineCompletionProvider implements vscode.InlineCompletionItemProvider {
  readonly #context: ProviderContext;
  readonly #cache = new SuggestionCache();
  readonly #requests = new CompletionRequests();
  #outdated = new AbortController();

  constructor(context: ProviderContext) {
    this.#context = context;
  }

  /** The one fault barrier: an error here costs a suggestion and a line in the log, nothing else. */
  async provideInlineCompletionItems(
    document: vscode.TextDocument,
    position: vscode.Position,
    context: vscode.InlineCompletionContext,
    token: vscode.CancellationToken,
  ): Promise<vscode.InlineCompletionItem[] | undefined> {
    const { log, maySuggestIn } = this.#context;
    try {
      if (!maySuggestIn(document)) return undefined;
      const from = performance.now();
      const place = placeOf(document, position, context.selectedCompletionInfo);
      const known = this.#cache.find(place);
      const first = known ?? (await this.#suggest(document, place, token));
      const tookMs = (performance.now() - from).toFixed(1);
      log.trace(`${known ? 'known' : 'asked for'}, answered in ${tookMs} ms`);
      // VS Code asks like this when the user asks for the next suggestion, or for one at all: that one is not to wait for others.
      const isInvoked = context.triggerKind === vscode.InlineCompletionTriggerKind.Invoke;
      const others = known && isInvoked ? await this.#alternatives(document, place, first, token) : [];
      if (token.isCancellationRequested) return undefined;
      return [...(first ? [first] : []), ...others].map((edit) => toItem(place, edit));
    } catch (error) {
      log.error('no suggestion:', error as Error);
      return undefined;
    }
  }

  /** Other settings or another engine are in force: nothing suggested before is shown again, nor what is under way. */
  reset(): void {
    this.#requests.cancel();
    this.#outdated.abort();
    this.#outdated = new AbortController();
    this.#cache.clear();
  }

  async #suggest(
    document: vscode.TextDocument,
    place: DocumentPlace,
    token: vscode.CancellationToken,
  ): Promise<Edit | undefined> {
    const engine = this.#context.engine();
    if (!engine) return undefined;
    const turnedAway = new AbortController();
    const subscription = token.onCancellationRequested(() => turnedAway.abort());
    try {
      return await this.#requests.request(
        place,
        (onPartialText, cancelled) => this.#ask(engine, document, place, onPartialText, cancelled),
        { turnedAway: turnedAway.signal, whereNow: () => placeAfterTyping(place, document) },
      );
    } finally {
      subscription.dispose();
    }
  }

  async #ask(
    engine: EngineClient,
    document: vscode.TextDocument,
    place: DocumentPlace,
    onPartialText: (text: string) => void,
    cancelled: AbortSignal,
  ): Promise<Edit | undefined> {
    const from = performance.now();
    const params = suggestionPlace(document, place.position, place.selected);
    let result = await engine.complete(params, onPartialText, cancelled);
    if (result.kind === 'outOfSync' && document.version === params.version) {
      this.#context.sync.open(document);
      result = await engine.complete(params, onPartialText, cancelled);
    }
    this.#context.log.debug(`${describe(result)} after ${Math.round(performance.now() - from)} ms`);
    // One that was called off may have been answered all the same, by a model that is no longer in force.
    if (result.kind !== 'completion' || cancelled.aborted) return undefined;
    this.#context.onCompleted(result.metrics);
    const edit = toEdit(place, result);
    if (edit) this.#cache.add(place, [edit]);
    return edit;
  }

  /** What else fits here; nothing when that fails, since there is the first one to show. */
  async #alternatives(
    document: vscode.TextDocument,
    place: DocumentPlace,
    first: Edit | undefined,
    token: vscode.CancellationToken,
  ): Promise<readonly Edit[]> {
    const engine = this.#context.engine();
    const count = this.#context.suggestions() - 1;
    if (!engine || count === 0 || token.isCancellationRequested) return [];
    const turnedAway = new AbortController();
    const subscription = token.onCancellationRequested(() => turnedAway.abort());
    const cancelled = AbortSignal.any([turnedAway.signal, this.#outdated.signal]);
    try {
      const known = first ? [textOf(place, first)] : [];
      const result = await engine.alternatives(
        { ...suggestionPlace(document, place.position, place.selected), count, known },
        cancelled,
      );
      if (result.kind !== 'alternatives' || cancelled.aborted) return [];
      const edits = result.suggestions.flatMap((suggestion) => toEdit(place, suggestion) ?? []);
      this.#cache.add(place, first ? [first, ...edits] : edits);
      return edits;
    } catch (error) {
      this.#context.log.error('no alternatives:', error as Error);
      return [];
    } finally {
      subscription.dispose();
    }
  }
}

function describe(result: CompleteResult): string {
  switch (result.kind) {
    case 'completion': {
      const { completionTokens, prefilledTokens, promptTokens, numDraftTokens, numAcceptedTokens } =
        result.metrics;
      const { numAcceptedTokensPerSource, numAcceptedTokensPerFile } = result.metrics;
      const sources = JSON.stringify({ ...numAcceptedTokensPerSource, ...numAcceptedTokensPerFile });
      return (
        `${completionTokens} tokens (prompt ${promptTokens}, prefilled ${prefilledTokens}, ` +
        `drafted ${numDraftTokens}, accepted ${numAcceptedTokens} ${sources})`
      );
    }
    case 'empty':
      return `nothing to suggest: ${result.reason}`;
    case 'cancelled':
      return 'cancelled';
    case 'outOfSync':
      return 'the engine has another version of the document';
  }
}
