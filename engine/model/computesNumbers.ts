import { SlipstreamError } from '../errors.ts';
import type { LanguageModel } from './languageModel.ts';

/** The second one's position is not 0: what is wrong with positions shows. */
const TOKENS = 2;

/**
 * Refuses a model whose logits are no numbers: finite weights can overflow, and which drafts are accepted is
 * chance then. One pass of two tokens (2 ms for the embedded model).
 *
 * @throws SlipstreamError model.corrupt
 */
export async function checkComputesNumbers(model: LanguageModel): Promise<void> {
  const { name, precision, device, contextLength } = model.info;
  const tokens = new Int32Array(Math.min(TOKENS, contextLength)).fill(1);
  const kv = model.createKvCache(tokens.length);
  try {
    const rows = Int32Array.of(tokens.length - 1);
    const { logits } = await kv.forward({ tokens, rows, want: 'logits' });
    if (logits!.every(Number.isFinite)) return;
  } finally {
    kv.dispose();
  }
  throw new SlipstreamError(
    'model.corrupt',
    `${name}: the model computes no numbers (${precision}, ${device}): its weights or its config.json are damaged. Download it again, or choose another model.`,
  );
}

/**
 * Refuses a head whose weights overflow: its drafts would cost time and be worth nothing.
 *
 * @param best log-probabilities of likeliest tokens: those are always possible
 * @throws SlipstreamError model.corrupt
 */
export function checkHeadComputesNumbers(folder: string, best: Float32Array): void {
  if (best.every(Number.isFinite)) return;
  throw new SlipstreamError(
    'model.corrupt',
    `${folder}: the head computes no numbers: its weights are damaged. Download it again, or choose another one.`,
  );
}

/** Log-probabilities of which those that are no numbers stand for the impossible: one NaN would spoil all that learns from it. */
export const impossibleWhereNaN = (logProbs: Float32Array) =>
  logProbs.map((logProb) => (Number.isNaN(logProb) ? Number.NEGATIVE_INFINITY : logProb));
