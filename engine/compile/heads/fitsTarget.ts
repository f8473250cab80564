import { SlipstreamError } from '../../errors.ts';

/**
 * A head reads the features of one model and writes its tokens.
 *
 * @throws SlipstreamError model.unsupported when `size` of the head is not the model's
 */
export function checkFits(dir: string, size: string, ofHead: number, ofTarget: number): void {
  if (ofHead === ofTarget) return;
  throw new SlipstreamError(
    'model.unsupported',
    `${dir} is a head for a model with a ${size} of ${ofHead}; this model's is ${ofTarget}. Choose a head that was trained for this model.`,
  );
}
