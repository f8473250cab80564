import type { HiddenRows } from '../draft/drafter.ts';

/**
 * The target's hidden states of a sequence, at the layers it was opened to hand out: kept as the KV rows are, so that a
 * reused prefix has them too.
 */
export class HiddenRowBuffer implements HiddenRows {
  readonly width: number;
  readonly #hiddenSize: number;
  #rows = new Float32Array(0); // [capacity, width]
  #length = 0;

  /** @param taps streams a row; 0: nothing is kept but the count */
  constructor(taps: number, hiddenSize: number) {
    this.#hiddenSize = hiddenSize;
    this.width = taps * hiddenSize;
  }

  get length(): number {
    return this.#length;
  }

  get bytes(): number {
    return this.#rows.byteLength;
  }

  slice(start: number, end: number): Float32Array {
    return this.#rows.subarray(start * this.width, Math.min(end, this.#length) * this.width);
  }

  /**
   * @param taps each [T, hidden], of the pass
   * @param path rows of the pass to keep, in order
   */
  append(taps: readonly Float32Array[], path: ArrayLike<number>): void {
    this.#makeRoom(this.#length + path.length);
    const size = this.#hiddenSize;
    for (const [tap, rows] of taps.entries()) {
      for (let i = 0; i < path.length; i++) {
        const row = rows.subarray(path[i] * size, (path[i] + 1) * size);
        this.#rows.set(row, (this.#length + i) * this.width + tap * size);
      }
    }
    this.#length += path.length;
  }

  truncate(length: number): void {
    this.#length = Math.min(this.#length, length);
  }

  #makeRoom(rows: number): void {
    if (rows * this.width <= this.#rows.length) return;
    const grown = new Float32Array(2 * rows * this.width);
    grown.set(this.#rows);
    this.#rows = grown;
  }
}
