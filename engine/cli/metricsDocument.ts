import { type DecodeMetrics, meanAcceptanceLength, tokensPerSecond } from '../metrics.ts';

/** Metrics as `--json` prints them: vLLM's names, times in ms. */
export function metricsDocument(metrics: DecodeMetrics) {
  return {
    prompt_tokens: metrics.promptTokens,
    prefilled_tokens: metrics.prefilledTokens,
    completion_tokens: metrics.completionTokens,
    num_drafts: metrics.numDrafts,
    num_draft_tokens: metrics.numDraftTokens,
    num_accepted_tokens: metrics.numAcceptedTokens,
    num_accepted_tokens_per_pos: metrics.numAcceptedTokensPerPos,
    num_accepted_tokens_per_source: metrics.numAcceptedTokensPerSource,
    mean_acceptance_length: meanAcceptanceLength(metrics),
    prefill_ms: metrics.prefillMs,
    ttft_ms: metrics.ttftMs,
    decode_ms: metrics.decodeMs,
    tokens_per_s: tokensPerSecond(metrics),
  };
}

/** The same in one line for people. */
export function metricsLine(metrics: DecodeMetrics): string {
  const { completionTokens, numDrafts, numDraftTokens, numAcceptedTokens, ttftMs } = metrics;
  return (
    `${completionTokens} tokens, ${tokensPerSecond(metrics).toFixed(0)} tokens/s, first after ${ttftMs.toFixed(0)} ms; ` +
    `${numAcceptedTokens} of ${numDraftTokens} draft tokens accepted in ${numDrafts} drafts, ` +
    `mean acceptance length ${meanAcceptanceLength(metrics).toFixed(2)}`
  );
}
