import type { Algorithm, CompletionMetrics } from './protocol.ts';
import type { DraftSource, TokenTree } from './tree/tokenTree.ts';

/**
 * What one generation did. Names and definitions follow vLLM's speculative decoding metrics: a draft is one
 * verification of drafted tokens, accepted tokens exclude the bonus. Times in ms.
 */
export interface DecodeMetrics {
  readonly promptTokens: number;
  /** Prompt tokens evaluated for this generation; the rest had their KV rows already. */
  readonly prefilledTokens: number;
  readonly completionTokens: number;
  /** Passes of the target, with drafts or without. */
  readonly numSteps: number;
  readonly numDrafts: number;
  readonly numDraftTokens: number;
  readonly numAcceptedTokens: number;
  readonly numAcceptedTokensPerPos: readonly number[];
  readonly numAcceptedTokensPerSource: Readonly<Partial<Record<DraftSource, number>>>;
  readonly prefillMs: number;
  /** From the request, so with the prompt's making and the wait for its turn where the asker says when it asked. */
  readonly ttftMs: number;
  readonly decodeMs: number;
  readonly draftMs: number;
  readonly verifyMs: number;
}

/** 1 + accepted / drafts: tokens a step that drafted yielded, the bonus included. */
export function meanAcceptanceLength({ numDrafts, numAcceptedTokens }: DecodeMetrics): number {
  return numDrafts === 0 ? 1 : 1 + numAcceptedTokens / numDrafts;
}

/** Completion tokens per second of the whole generation, prefill excluded. */
export function tokensPerSecond({ completionTokens, decodeMs }: DecodeMetrics): number {
  return decodeMs === 0 ? 0 : (1000 * completionTokens) / decodeMs;
}

/** The metrics as an editor gets them. */
export function completionMetrics(
  algorithm: Algorithm,
  metrics: DecodeMetrics,
  acceptedFrom: Readonly<Record<string, number>>,
): CompletionMetrics {
  const { numSteps: _steps, draftMs: _draftMs, verifyMs: _verifyMs, ...shared } = metrics;
  return {
    algorithm,
    ...shared,
    numAcceptedTokensPerFile: acceptedFrom,
    meanAcceptanceLength: meanAcceptanceLength(metrics),
    tokensPerS: tokensPerSecond(metrics),
  };
}

/** Collects the metrics of one generation while it runs. */
export class MetricsRecorder {
  readonly #started = performance.now();
  readonly #askedMs: number;
  readonly #promptTokens: number;
  readonly #prefilledTokens: number;
  readonly #perPosition: number[] = [];
  readonly #perSource = new Map<DraftSource, number>();
  #decodeStarted = 0;
  #firstToken = 0;
  #steps = 0;
  #drafts = 0;
  #draftTokens = 0;
  #draftMs = 0;
  #verifyMs = 0;

  /** @param askedMs when it was asked for, by `performance.now()`; absent: now */
  constructor(promptTokens: number, prefilledTokens: number, askedMs?: number) {
    this.#askedMs = askedMs ?? this.#started;
    this.#promptTokens = promptTokens;
    this.#prefilledTokens = prefilledTokens;
  }

  decodeStarted(): void {
    this.#decodeStarted = performance.now();
  }

  step(tree: TokenTree, accepted: readonly number[], draftMs: number, verifyMs: number): void {
    if (this.#steps++ === 0) this.#firstToken = performance.now();
    this.#draftMs += draftMs;
    this.#verifyMs += verifyMs;
    if (tree.size === 0) return;
    this.#drafts++;
    this.#draftTokens += tree.size;
    for (const [position, node] of accepted.entries()) {
      this.#perPosition[position] = (this.#perPosition[position] ?? 0) + 1;
      const source = tree.sources[node];
      this.#perSource.set(source, (this.#perSource.get(source) ?? 0) + 1);
    }
  }

  finish(completionTokens: number): DecodeMetrics {
    const now = performance.now();
    return {
      promptTokens: this.#promptTokens,
      prefilledTokens: this.#prefilledTokens,
      completionTokens,
      numSteps: this.#steps,
      numDrafts: this.#drafts,
      numDraftTokens: this.#draftTokens,
      numAcceptedTokens: this.#perPosition.reduce((sum, count) => sum + count, 0),
      numAcceptedTokensPerPos: this.#perPosition,
      numAcceptedTokensPerSource: Object.fromEntries(this.#perSource),
      prefillMs: this.#decodeStarted > 0 ? this.#decodeStarted - this.#started : 0,
      ttftMs: this.#firstToken > 0 ? this.#firstToken - this.#askedMs : 0,
      decodeMs: this.#decodeStarted > 0 ? now - this.#decodeStarted : 0,
      draftMs: this.#draftMs,
      verifyMs: this.#verifyMs,
    };
  }
}
