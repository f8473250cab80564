import type { Actions, Model } from '../model.ts';
import { selectionOf } from './selection.ts';

const STEP_MS = 700;

export interface PlaybackOptions {
  readonly model: () => Model;
  readonly look: Actions['look'];
  readonly onChange: (isPlaying: boolean) => void;
}

/** Goes through the steps of the timeline, one after the other, to the last. */
export class Playback {
  readonly #options: PlaybackOptions;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(options: PlaybackOptions) {
    this.#options = options;
  }

  toggle(): void {
    if (this.#timer === undefined) this.#start();
    else this.#stop();
  }

  #start(): void {
    const place = this.#place();
    if (!place) return;
    this.#goTo(place.step === place.steps ? 0 : place.step + 1);
    this.#timer = setInterval(() => this.#advance(), STEP_MS);
    this.#options.onChange(true);
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#options.onChange(false);
  }

  #advance(): void {
    const place = this.#place();
    if (!place || place.step === place.steps) this.#stop();
    else this.#goTo(place.step + 1);
  }

  #goTo(step: number): void {
    const { model, look } = this.#options;
    look({ timeline: { ...model().view.timeline, step } });
  }

  #place(): { step: number; steps: number } | undefined {
    const { state, view } = this.#options.model();
    const selection = state?.report && selectionOf(state.report, view);
    return selection && { step: selection.step, steps: selection.trace.steps.length };
  }
}
