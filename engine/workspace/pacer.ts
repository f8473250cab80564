import { setImmediate, setTimeout } from 'node:timers/promises';

/** Longest piece of background work on the engine's thread. */
const SLICE_MS = 2;

/** How often held work looks whether it may go on. */
const HOLD_POLL_MS = 10;

/** Cuts background work into slices, and lets it rest while something that a user waits for runs. */
export class Pacer {
  #sliceStartMs = 0;
  #holds = 0;

  /** Background work rests until the returned function is called. */
  hold(): () => void {
    let held = true;
    this.#holds++;
    return () => {
      if (held) this.#holds--;
      held = false;
    };
  }

  /** To be awaited between pieces of work that take well under a slice each. */
  async pause(): Promise<void> {
    if (this.#holds === 0 && performance.now() - this.#sliceStartMs < SLICE_MS) return;
    await setImmediate();
    while (this.#holds > 0) await setTimeout(HOLD_POLL_MS);
    this.#sliceStartMs = performance.now();
  }
}
