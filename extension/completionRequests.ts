import { type Edit, type Place, rest } from './suggestionCache.ts';

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
}

/**
 * After the last one who waits has turned away a request goes on for this long: VS Code cancels at every key
 * and asks again 50 ms later, and the answer may be what is being typed.
 */
const lingerMs = 75;

/**
 * At most one request runs; there is no queue. Who asks for what the running request is about to answer
 * joins it, anything else takes its place.
 */
export class CompletionRequests {
  #running: Running | undefined;

  /** @returns the edit suggested at `place`, or undefined when there is none or the one who asks turned away */
  async request(place: Place, ask: Ask, turnedAway: AbortSignal): Promise<Edit | undefined> {
    const running = this.#joinable(place) ?? this.#start(place, ask);
    running.waiting++;
    const leave = () => this.#leave(running);
    turnedAway.addEventListener('abort', leave, { once: true });
    try {
      const edit = await running.result;
      return edit && !turnedAway.aborted ? rest(running.place, edit, place) : undefined;
    } finally {
      turnedAway.removeEventListener('abort', leave);
    }
  }

  cancel(): void {
    this.#running?.abort.abort();
    this.#running = undefined;
  }

  #joinable(place: Place): Running | undefined {
    const running = this.#running;
    if (!running) return undefined;
    const { before, uri } = running.place;
    const samePlace = uri === place.uri && before === place.before && running.place.after === place.after;
    const soFar = { start: before.length, end: before.length, text: running.partialText };
    return samePlace || rest(running.place, soFar, place) ? running : undefined;
  }

  #start(place: Place, ask: Ask): Running {
    this.cancel();
    const abort = new AbortController();
    const running: Running = {
      place,
      abort,
      partialText: '',
      waiting: 0,
      result: ask((text) => {
        running.partialText = text;
      }, abort.signal).finally(() => {
        if (this.#running === running) this.#running = undefined;
      }),
    };
    this.#running = running;
    return running;
  }

  #leave(running: Running): void {
    running.waiting--;
    setTimeout(() => {
      if (running.waiting > 0) return;
      running.abort.abort();
      if (this.#running === running) this.#running = undefined;
    }, lingerMs);
  }
}
