import { type Edit, isSamePlace, type Place, rest } from './suggestionCache.ts';

/** One request to the engine: how it is asked and how it is called off. */
export type Ask = (
  onPartialText: (text: string) => void,
  cancelled: AbortSignal,
) => Promise<Edit | undefined>;

interface Running {
  readonly place: Place;
  readonly result: Promise<Edit | undefined>;
  readonly abort: AbortController;
  partialText: string;
  waiting: number;
  /** Runs while nobody waits and somebody may yet join. */
  lingering: NodeJS.Timeout | undefined;
}

/** Somebody who waits for a request. */
export interface Asker {
  readonly turnedAway: AbortSignal;
  /** Where they have typed to, for when they turn away. */
  readonly whereNow: () => Place;
}

/**
 * VS Code cancels at every key and asks again 50 ms later. A request that is generating just what is typed
 * waits that long for somebody to join; any other is called off at once.
 */
const lingerMs = 75;

const closers = /^[)\]}>"'`]*$/;

/**
 * At most one request runs; there is no queue. Who asks for what the running request is about to answer
 * joins it, anything else takes its place.
 */
export class CompletionRequests {
  #running: Running | undefined;

  /** @returns the edit suggested at `place`, or undefined when there is none or the one who asks turned away */
  async request(place: Place, ask: Ask, { turnedAway, whereNow }: Asker): Promise<Edit | undefined> {
    const joined = this.#joinable(place);
    if (joined) {
      const edit = await this.#wait(joined, place, { turnedAway, whereNow });
      if (edit || turnedAway.aborted || joined.abort.signal.aborted || isSamePlace(joined.place, place))
        return edit;
      // What it came to in the end leaves nothing to suggest here, where somebody has typed ahead of it.
    }
    return this.#wait(this.#start(place, ask), place, { turnedAway, whereNow });
  }

  cancel(): void {
    this.#running?.abort.abort();
    this.#running = undefined;
  }

  async #wait(running: Running, place: Place, { turnedAway, whereNow }: Asker): Promise<Edit | undefined> {
    running.waiting++;
    clearTimeout(running.lingering);
    const leave = () => this.#leave(running, whereNow());
    turnedAway.addEventListener('abort', leave, { once: true });
    try {
      const edit = await running.result;
      return edit && !turnedAway.aborted ? rest(running.place, edit, place) : undefined;
    } finally {
      turnedAway.removeEventListener('abort', leave);
    }
  }

  #joinable(place: Place): Running | undefined {
    const running = this.#running;
    return running && (isSamePlace(running.place, place) || isGenerating(running, place))
      ? running
      : undefined;
  }

  #start(place: Place, ask: Ask): Running {
    this.cancel();
    const abort = new AbortController();
    const running: Running = {
      place,
      abort,
      partialText: '',
      waiting: 0,
      lingering: undefined,
      result: ask((text) => {
        running.partialText = text;
      }, abort.signal).finally(() => {
        if (this.#running === running) this.#running = undefined;
      }),
    };
    this.#running = running;
    return running;
  }

  #leave(running: Running, now: Place): void {
    running.waiting--;
    if (running.waiting > 0) return;
    if (isGenerating(running, asFarAsGenerated(running, now)))
      running.lingering = setTimeout(() => this.#callOff(running), lingerMs);
    else this.#callOff(running);
  }

  #callOff(running: Running): void {
    running.abort.abort();
    if (this.#running === running) this.#running = undefined;
  }
}

/** The same text with the cursor before what the editor has closed by itself, as far as that can be told. */
function asFarAsGenerated({ place, partialText }: Running, { uri, before, after }: Place): Place {
  let cursor = place.before.length;
  while (cursor < before.length && before[cursor] === partialText[cursor - place.before.length]) cursor++;
  return { uri, before: before.slice(0, cursor), after: before.slice(cursor) + after };
}

/**
 * Whether what has been generated so far covers what was typed to come to a place. What the editor closed by itself
 * may be generated yet.
 */
function isGenerating({ place, partialText }: Running, to: Place): boolean {
  const cameFrom =
    place.uri === to.uri && to.before.startsWith(place.before) && to.after.endsWith(place.after);
  if (!cameFrom) return false;
  const typed = to.before.slice(place.before.length);
  const closed = to.after.slice(0, to.after.length - place.after.length);
  return (
    typed !== '' && partialText.length > typed.length && partialText.startsWith(typed) && closers.test(closed)
  );
}
