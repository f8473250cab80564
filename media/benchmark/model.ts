import type { PanelState, ToExtension } from '../../extension/benchmark/messages.ts';
import type { ViewState } from './viewState.ts';

/** All that the page shows. */
export interface Model {
  /** Undefined until the extension has sent it. */
  readonly state: PanelState | undefined;
  readonly view: ViewState;
  /** Of the page's content, in CSS pixels. */
  readonly width: number;
  readonly isPlaying: boolean;
}

/** All that can be done on the page. */
export interface Actions {
  send(message: ToExtension): void;
  /** Changes what is looked at. */
  look(part: Partial<ViewState>): void;
  /** Plays the timeline, or stops it. */
  togglePlay(): void;
}
