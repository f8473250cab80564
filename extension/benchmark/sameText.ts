import type { AlgorithmResult, OutputDifference } from '../../engine/protocol.ts';

/** Whether an algorithm wrote what plain decoding writes; on a GPU near-ties may fall either way, which is no fault. */
export type SameText = 'yes' | 'near-ties' | 'no';

export function sameText(
  { algorithm, lossless }: Pick<AlgorithmResult, 'algorithm' | 'lossless'>,
  differences: readonly OutputDifference[],
): SameText {
  if (lossless) return 'yes';
  const own = differences.filter((difference) => difference.algorithm === algorithm);
  return own.length > 0 && own.every(({ is_fault }) => !is_fault) ? 'near-ties' : 'no';
}
