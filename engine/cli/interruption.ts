import { printNote } from './output.ts';
import { showProgress } from './progressLine.ts';

/** As shells say that something was ended by Ctrl-C. */
export const INTERRUPTED = 130;

/**
 * Ctrl-C: ends the command with what is there; the process at once while there is nothing, and the second time. The
 * terminal is left as it was found, and a report that is being written is written (reportFile.ts).
 */
export class Interruption {
  readonly #abort = new AbortController();
  #hasResults = false;
  readonly #onInterrupt = () => {
    if (!this.#hasResults || this.#abort.signal.aborted) {
      showProgress('');
      printNote('Cancelled.');
      process.exit(INTERRUPTED);
    }
    this.#abort.abort();
  };

  constructor() {
    process.on('SIGINT', this.#onInterrupt);
  }

  /** Aborted by the first Ctrl-C after there were results. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** There is something to show from now on. */
  noteResults(): void {
    this.#hasResults = true;
  }

  end(): void {
    process.off('SIGINT', this.#onInterrupt);
  }
}
