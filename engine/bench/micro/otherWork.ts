/** More than a core's own caches and most shared ones hold. */
const WORKING_SET_BYTES = 2 ** 27;
const CACHE_LINE_BYTES = 64;
/** Lines between two looks at the clock: about 10 us. */
const STRETCH = 1024;

/**
 * What an editor's machine does between two keystrokes, as far as caches are concerned: it reads and writes other memory.
 * A suggestion is a short burst after such a pause, so what it does first never finds the caches as a loop would.
 */
export class OtherWork {
  readonly #lines = new Float64Array(WORKING_SET_BYTES / Float64Array.BYTES_PER_ELEMENT);
  #at = 0;

  /** Takes this long. */
  run(ms: number): void {
    const end = performance.now() + ms;
    const stride = CACHE_LINE_BYTES / Float64Array.BYTES_PER_ELEMENT;
    while (performance.now() < end) {
      for (let i = 0; i < STRETCH; i++) {
        this.#lines[this.#at]++;
        this.#at = (this.#at + stride) % this.#lines.length;
      }
    }
  }
}
