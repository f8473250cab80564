import { SlipstreamError } from '../errors.ts';
import { nodeDepths } from '../tree/treeShape.ts';
import type { ForwardBatch } from './languageModel.ts';

/**
 * A model's context limits positions, not rows: siblings of a tree share theirs.
 * @param length committed rows
 * @throws SlipstreamError usage when a token of the batch has no position
 */
export function checkContext({ tokens, parents }: ForwardBatch, length: number, contextLength: number): void {
  const deepest = parents ? Math.max(...nodeDepths(parents)) + 1 : tokens.length;
  const needed = length + deepest;
  if (needed <= contextLength) return;
  throw new SlipstreamError('usage', `${needed} tokens do not fit the model's context of ${contextLength}.`);
}
