import type { Session } from './session.ts';

/** Pending tokens up to this many ride along with the first verification: cheaper than a pass of their own. */
const CARRIED = 8;
/** A pass cannot be interrupted; this is how long one may take, so that a cancel is felt within 50 ms. */
const PASS_MS = 25;
const LARGEST_CHUNK = 256;

/** Whether so few tokens are pending that nothing is evaluated before the first verification. */
export const isCarried = (pending: number) => pending <= CARRIED;

/** How many tokens a pass takes in PASS_MS on this model and machine: learned from every chunk, small at first. */
export class PrefillPace {
  #chunk = CARRIED;

  get chunk(): number {
    return this.#chunk;
  }

  observe(tokens: number, ms: number): void {
    const inTime = Math.floor((PASS_MS * tokens) / ms);
    if (ms > PASS_MS) this.#chunk = Math.max(1, inTime);
    // A rest says nothing about larger chunks: tokens are cheaper in company.
    else if (tokens >= this.#chunk) this.#chunk = Math.min(inTime, 2 * this.#chunk, LARGEST_CHUNK);
  }
}

/**
 * Evaluates all but a few pending tokens in chunks, cancellable between them. How the prompt is cut depends on the
 * time, so no chunk is deeper than what gives the same rows however it is cut.
 */
export async function prefill(session: Session, signal: AbortSignal): Promise<void> {
  const { pace } = session;
  while (!isCarried(session.pending) && !signal.aborted) {
    const size = Math.min(pace.chunk, session.pending - 1, session.exactDepth);
    const started = performance.now();
    await session.prefill(size);
    pace.observe(size, performance.now() - started);
  }
}
