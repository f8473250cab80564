import type { FileRange } from './storedTensor.ts';

/** Whether two of the ranges share a byte: with that a small file can describe any amount of data. */
export function haveOverlap(ranges: Iterable<FileRange>): boolean {
  const filled = [...ranges].filter(({ byteLength }) => byteLength > 0).sort((a, b) => a.offset - b.offset);
  return filled.some(({ offset }, i) => i > 0 && offset < filled[i - 1].offset + filled[i - 1].byteLength);
}
