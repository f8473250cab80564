const OPEN_WINDOWS = 64;

/** Packs whole samples into windows of a fixed number of tokens: best fit among some open windows. */
export class WindowPacker {
  readonly #size: number;
  readonly #smallestUsefulRest: number;
  readonly #open: number[][] = [];

  constructor(size: number) {
    this.#size = size;
    this.#smallestUsefulRest = Math.floor(size / 16);
  }

  /** Takes a sample of at most `size` tokens; returns the windows that are thereby as good as full. */
  add(sample: readonly number[]): number[][] {
    let best: number[] | undefined;
    for (const window of this.#open) {
      const fits = window.length + sample.length <= this.#size;
      if (fits && (!best || window.length > best.length)) best = window;
    }
    if (best) best.push(...sample);
    else this.#open.push([...sample]);
    const full = this.#open.filter((window) => this.#size - window.length < this.#smallestUsefulRest);
    if (full.length === 0 && this.#open.length > OPEN_WINDOWS) full.push(this.#longest());
    for (const window of full) this.#open.splice(this.#open.indexOf(window), 1);
    return full;
  }

  #longest(): number[] {
    return this.#open.reduce((a, b) => (a.length >= b.length ? a : b));
  }
}
