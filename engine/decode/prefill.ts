import type { Session } from './session.ts';

/** Pending tokens up to this many ride along with the first verification: cheaper than a pass of their own. */
const CARRIED = 8;

/** Whether so few tokens are pending that nothing is evaluated before the first verification. */
export const isCarried = (pending: number) => pending <= CARRIED;

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
