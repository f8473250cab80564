import type { ModelInfo } from '../model/languageModel.ts';
import { usageError } from './commandLine.ts';

/** Checks that a model can take these tokens and `newTokens` more. */
export function checkSequence(option: string, tokens: Int32Array, newTokens: number, info: ModelInfo): void {
  if (tokens.length === 0) throw usageError(`--${option}: there is no token in it`);
  const unknown = tokens.find((token) => token >= info.vocabSize);
  if (unknown !== undefined) {
    throw usageError(`--${option}: ${unknown} is outside the model's vocabulary of ${info.vocabSize}`);
  }
  if (tokens.length + newTokens > info.contextLength) {
    throw usageError(
      `--${option}: ${tokens.length} tokens and ${newTokens} new ones do not fit the model's context of ${info.contextLength}`,
    );
  }
}
