import { SlipstreamError } from '../../errors.ts';

/**
 * A head reads the features of one model and writes its tokens. Asked once the head's own tensors are found to be of its
 * sizes: a config.json that is wrong about them would make it a head for a model that there is not. `file` is what says its sizes.
 *
 * @throws SlipstreamError model.unsupported when `size` of the head is not the model's
 */
export function checkFits(file: string, size: string, ofHead: number, ofTarget: number): void {
  if (ofHead === ofTarget) return;
  throw new SlipstreamError(
    'model.unsupported',
    `${file} is of a head for a model with a ${size} of ${ofHead}; this model's is ${ofTarget}. Choose a head that was trained for this model.`,
  );
}
