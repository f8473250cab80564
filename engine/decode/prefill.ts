import type { Session } from './session.ts';

/** Pending tokens up to this many ride along with the first verification: cheaper than a pass of their own. */
const CARRIED = 8;
/** A pass cannot be interrupted; this is how long one may take, so that a cancel is felt within 50 ms. */
const PASS_MS = 25;
const FIRST_CHUNK = 32;
const LARGEST_CHUNK = 256;

/**
 * Evaluates a prompt in chunks, as long as the machine needs for PASS_MS of work, cancellable between them. How it is cut
 * depends on the time, so no chunk is deeper than what gives the same rows however it is cut.
 */
export class Prefill {
  readonly #session: Session;
  #chunk = FIRST_CHUNK;

  constructor(session: Session) {
    this.#session = session;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (this.#session.pending > CARRIED && !signal.aborted) {
      const size = Math.min(this.#chunk, this.#session.pending - 1, this.#session.exactDepth);
      const started = performance.now();
      await this.#session.prefill(size);
      const msPerToken = (performance.now() - started) / size;
      this.#chunk = clamp(Math.floor(PASS_MS / msPerToken), 1, Math.min(2 * this.#chunk, LARGEST_CHUNK));
    }
  }
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
