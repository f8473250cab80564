/** Tokens that the parts of a prompt may take. */
export interface PromptBudget {
  readonly prefixTokens: number;
  readonly suffixTokens: number;
  /** Other files; 0 leaves them out. */
  readonly contextTokens: number;
}

/**
 * What comes before the cursor says most about what follows it. Copilot gives prefix and suffix 35 : 15 and context the
 * other half of 8,192 tokens; in a short prompt the prefix needs a larger part to be of use at all.
 */
const PREFIX_SHARE = 0.6;
const SUFFIX_SHARE = 0.15;
/** Of the longest sequence that a model was made for; a suggestion takes the rest, and seldom more. */
const PROMPT_SHARE = 7 / 8;
/** The document's path; of a longer one the end says what there is to say. */
export const MAX_PATH_TOKENS = 24;
/** What stands between the parts, control tokens and line feeds. */
const FRAME_TOKENS = 8;

/** Tokens of a prompt that suits a model. */
export const suitablePrompt = (longestSequence: number) => Math.floor(longestSequence * PROMPT_SHARE);

/** Splits a prompt of at most `tokens` tokens. */
export function splitPromptBudget(tokens: number): PromptBudget {
  const text = Math.max(0, tokens - FRAME_TOKENS - MAX_PATH_TOKENS);
  const prefixTokens = Math.max(1, Math.floor(text * PREFIX_SHARE));
  const suffixTokens = Math.floor(text * SUFFIX_SHARE);
  return { prefixTokens, suffixTokens, contextTokens: Math.max(0, text - prefixTokens - suffixTokens) };
}
