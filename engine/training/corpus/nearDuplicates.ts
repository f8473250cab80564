import { mixBits, shingles } from './shingles.ts';

const SHINGLE_TOKENS = 5;
const BINS = 64;
const ROWS_A_BAND = 4;

/**
 * One-permutation MinHash (Li, Owen, Zhang 2012) with rotation for empty bins (Shrivastava, Li 2014):
 * each shingle is hashed once; its upper bits choose the bin, the bin keeps its minimum.
 */
function signature(text: string): Uint32Array {
  const bins = new Uint32Array(BINS).fill(0xffffffff);
  for (const shingle of shingles(text, SHINGLE_TOKENS)) {
    const bin = shingle >>> 26;
    const value = mixBits(shingle ^ 0x9e3779b9);
    if (value < bins[bin]!) bins[bin] = value;
  }
  const filled = bins.slice();
  for (let bin = 0; bin < BINS; bin++) {
    for (let step = 1; filled[bin] === 0xffffffff && step < BINS; step++)
      filled[bin] = bins[(bin + step) % BINS]!;
  }
  return filled;
}

/** Finds texts that share most of their 5-token runs with an earlier text (two bands of 4 equal bins of 64). */
export class NearDuplicates {
  readonly #seen = new Set<string>();

  /** True when a near-duplicate was added before; adds the text otherwise. */
  isDuplicate(text: string): boolean {
    const bins = signature(text);
    const bands: string[] = [];
    for (let start = 0; start < BINS; start += ROWS_A_BAND) {
      bands.push(`${start}:${bins.subarray(start, start + ROWS_A_BAND).join(',')}`);
    }
    // Two equal bands of 16: at a Jaccard similarity of 0.7 this catches 93 %, at 0.4 it keeps 94 %.
    if (bands.filter((band) => this.#seen.has(band)).length >= 2) return true;
    for (const band of bands) this.#seen.add(band);
    return false;
  }
}
