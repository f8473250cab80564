import './float16Bits.ts';
import { closedRows, type KvType, OPEN_ROWS } from '../compile/cpuAttention.ts';
import * as ort from './onnxruntime.ts';

/**
 * Capacity grows in steps of this many rows: fewer copies, and at most this many rows of attention for nothing, which
 * cost more than all the rest of a short pass. Whole steps keep the order in which the kernels sum (see cpuAttention).
 */
const CAPACITY_STEP = 64;

/** Rows that may be too many before some are given back: a copy takes as long as attending to these in a few passes. */
const SPARE_ROWS = 128;

/** float32, or the bits of float16. */
type Rows = Float32Array | Uint16Array;

export interface KvRowShape {
  readonly layers: number;
  readonly kvHeads: number;
  readonly headDim: number;
}

/** Rows that a forward pass computed and nobody has committed yet. */
export interface PendingRows {
  readonly rows: Rows; // [layers, 2 * kvHeads, T, headDim], keys before values
  readonly size: number; // T
}

/** The committed KV rows of one sequence in JavaScript's memory, and the tensors over them that a graph reads in place. */
export class CpuKvRows {
  readonly #layers: number;
  readonly #kvHeads: number;
  readonly #headDim: number;
  readonly #type: KvType;
  #capacity = 0;
  #length = 0;
  /** Keys of layer 0, values of layer 0, keys of layer 1, ...: every committed row. Each [kvHeads, capacity, headDim] */
  #buffers: Rows[] = [];
  /** A layer's committed rows that are not closed for the next token, from `closedRows(length)` on. */
  readonly #open: readonly Rows[]; // [2 * kvHeads, OPEN_ROWS, headDim]
  #feeds: Record<string, ort.Tensor> = {};

  constructor({ layers, kvHeads, headDim }: KvRowShape, type: KvType, capacity: number) {
    this.#layers = layers;
    this.#kvHeads = kvHeads;
    this.#headDim = headDim;
    this.#type = type;
    this.#open = Array.from({ length: layers }, () => this.#newRows(2 * kvHeads * OPEN_ROWS * headDim));
    this.#resize(roundUp(capacity));
  }

  get length(): number {
    return this.#length;
  }

  get capacity(): number {
    return this.#capacity;
  }

  get bytes(): number {
    return [...this.#buffers, ...this.#open].reduce((sum, buffer) => sum + buffer.byteLength, 0);
  }

  /** keys_i, values_i and open_i of every layer: see cpuAttention. */
  get feeds(): Readonly<Record<string, ort.Tensor>> {
    return this.#feeds;
  }

  reserve(rows: number): void {
    const capacity = roundUp(Math.max(rows, this.#length));
    // Every pass attends to the whole capacity: one that was made for a longer sequence is given back.
    if (capacity > this.#capacity || capacity + SPARE_ROWS < this.#capacity) this.#resize(capacity);
  }

  /** @param path rows of the pass to keep, in order */
  append(pending: PendingRows, path: ArrayLike<number>): void {
    const first = this.#length;
    if (first + path.length > this.#capacity) this.#resize(roundUp(first + path.length));
    const headDim = this.#headDim;
    for (let part = 0; part < 2 * this.#layers * this.#kvHeads; part++) {
      const { buffer, offset } = this.#head(part);
      const source = part * pending.size * headDim;
      for (let i = 0; i < path.length; i++) {
        const row = pending.rows.subarray(source + path[i] * headDim, source + (path[i] + 1) * headDim);
        buffer.set(row, offset + (first + i) * headDim);
      }
    }
    this.#length = first + path.length;
    this.#refreshOpen(closedRows(first) === closedRows(this.#length) ? first : 0);
  }

  truncate(length: number): void {
    if (length >= this.#length) return;
    this.#length = length;
    this.#refreshOpen(0);
  }

  dispose(): void {
    this.#buffers = [];
    this.#feeds = {};
  }

  /** The place of the `part`-th head (layers, then keys before values, then heads) among the buffers. */
  #head(part: number): { buffer: Rows; offset: number } {
    const buffer = this.#buffers[Math.floor(part / this.#kvHeads)];
    return { buffer, offset: (part % this.#kvHeads) * this.#capacity * this.#headDim };
  }

  /** Copies the committed rows from position `from` on that belong among the open ones. At most OPEN_ROWS a head. */
  #refreshOpen(from: number): void {
    const base = closedRows(this.#length);
    const start = Math.max(base, from);
    const headDim = this.#headDim;
    const headsPerLayer = 2 * this.#kvHeads;
    for (let part = 0; part < this.#layers * headsPerLayer; part++) {
      const { buffer, offset } = this.#head(part);
      const rows = buffer.subarray(offset + start * headDim, offset + this.#length * headDim);
      const head = (part % headsPerLayer) * OPEN_ROWS;
      this.#open[Math.floor(part / headsPerLayer)].set(rows, (head + start - base) * headDim);
    }
  }

  #newRows(size: number): Rows {
    return this.#type === 'float32' ? new Float32Array(size) : new Uint16Array(size);
  }

  #resize(capacity: number): void {
    const stride = this.#capacity * this.#headDim;
    const used = this.#length * this.#headDim;
    this.#buffers = Array.from({ length: 2 * this.#layers }, (_, i) => {
      const grown = this.#newRows(this.#kvHeads * capacity * this.#headDim);
      for (let head = 0; head < this.#kvHeads && used > 0; head++) {
        const rows = this.#buffers[i].subarray(head * stride, head * stride + used);
        grown.set(rows, head * capacity * this.#headDim);
      }
      return grown;
    });
    this.#capacity = capacity;
    this.#feeds = this.#createFeeds();
  }

  /** Tensors over the buffers themselves: made once a capacity, read in place by every run. */
  #createFeeds(): Record<string, ort.Tensor> {
    const shape = [1, this.#kvHeads, this.#capacity, this.#headDim];
    const openShape = [1, 2 * this.#kvHeads, OPEN_ROWS, this.#headDim];
    const feeds: Record<string, ort.Tensor> = {};
    for (let layer = 0; layer < this.#layers; layer++) {
      feeds[`keys_${layer}`] = tensorOver(this.#buffers[2 * layer], shape);
      feeds[`values_${layer}`] = tensorOver(this.#buffers[2 * layer + 1], shape);
      feeds[`open_${layer}`] = tensorOver(this.#open[layer], openShape);
    }
    return feeds;
  }
}

function roundUp(rows: number): number {
  return Math.max(1, Math.ceil(rows / CAPACITY_STEP)) * CAPACITY_STEP;
}

/** A tensor that reads the rows in place. */
function tensorOver(rows: Rows, shape: readonly number[]): ort.Tensor {
  return rows instanceof Float32Array
    ? new ort.Tensor('float32', rows, shape)
    : new ort.Tensor('float16', rows, shape);
}
