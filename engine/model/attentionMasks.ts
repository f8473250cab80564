import { closedRows, OPEN_BLOCK, OPEN_ROWS } from '../compile/cpuAttention.ts';
import { nodeDepths } from '../tree/treeShape.ts';

/** What attention adds to a score to hide a token: finite, so that a row of only these still has a softmax. */
export const HIDDEN = -1e9;

/** Where a batch stands: committed rows before it, and which of them its first token finds closed. */
export interface BatchPlace {
  readonly length: number;
  readonly capacity: number;
}

/**
 * Which closed rows each token reads (AttentionInputs.closedMask): one row for all tokens where they agree, otherwise
 * one a token and query head.
 *
 * @returns [1 or group * T, capacity]
 */
export function closedMask(place: BatchPlace, parents: Int32Array, group: number): Float32Array {
  const closed = closedCounts(place, parents);
  const alike = closed.every((count) => count === closed[0]);
  const size = alike ? 1 : parents.length;
  const mask = new Float32Array((alike ? 1 : group * size) * place.capacity).fill(HIDDEN);
  for (let row = 0; row < size; row++) {
    mask.fill(0, row * place.capacity, row * place.capacity + closed[row]);
  }
  return alike ? mask : repeat(mask, size * place.capacity);
}

/**
 * Which open rows and nodes each token reads (AttentionInputs.openMask): committed rows that are not closed for it, its
 * ancestors and itself.
 *
 * @param parents [T], the batch as a tree
 * @returns [group * T, OPEN_ROWS + T]
 */
export function openMask(place: BatchPlace, parents: Int32Array, group: number): Float32Array {
  const size = parents.length;
  const width = OPEN_ROWS + size;
  const first = closedRows(place.length);
  const closed = closedCounts(place, parents);
  const mask = new Float32Array(group * size * width).fill(HIDDEN);
  for (let node = 0; node < size; node++) {
    const row = node * width;
    mask.fill(0, row + closed[node] - first, row + place.length - first);
    for (let seen = node; seen >= 0; seen = parents[seen]) mask[row + OPEN_ROWS + seen] = 0;
  }
  return repeat(mask, size * width);
}

/** Closed rows a token; in a batch deeper than a block, those that are committed. */
function closedCounts({ length }: BatchPlace, parents: Int32Array): Int32Array {
  const committed = Math.floor(length / OPEN_BLOCK) * OPEN_BLOCK;
  return nodeDepths(parents).map((depth) => Math.min(committed, closedRows(length + depth)));
}

/** Fills the array with copies of its first `period` elements. */
function repeat(mask: Float32Array, period: number): Float32Array {
  for (let start = period; start < mask.length; start += period) mask.copyWithin(start, 0, period);
  return mask;
}
