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
