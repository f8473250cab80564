/** The benchmark's webview: gets the whole state from the extension, draws it, and says what the user does. */
import { render } from 'lit-html';
import { parseToWebview, type ToExtension } from '../../extension/benchmark/messages.ts';
import { app } from './app.ts';
import type { Actions, Model } from './model.ts';
import { Playback } from './timeline/playback.ts';
import { parseViewState, type ViewState } from './viewState.ts';

declare function acquireVsCodeApi(): {
  postMessage(message: ToExtension): void;
  getState(): unknown;
  setState(state: ViewState): void;
};

const vscode = acquireVsCodeApi();
const root = document.getElementById('benchmark')!;
let model: Model = {
  state: undefined,
  view: parseViewState(vscode.getState()),
  width: 0,
  isPlaying: false,
};

const actions: Actions = {
  send: (message) => vscode.postMessage(message),
  look(part) {
    const view = { ...model.view, ...part };
    vscode.setState(view);
    change({ view });
  },
  togglePlay: () => playback.toggle(),
};
const playback = new Playback({
  model: () => model,
  look: actions.look,
  onChange: (isPlaying) => change({ isPlaying }),
});

function change(part: Partial<Model>): void {
  model = { ...model, ...part };
  if (model.state && model.width > 0) render(app(model, model.state, actions), root);
}

window.addEventListener('message', ({ data }) => {
  const message = parseToWebview(data);
  if (message.type === 'state') change({ state: message.state });
  else if (model.state) change({ state: { ...model.state, run: message.run } });
});
new ResizeObserver(([{ contentRect }]) => change({ width: contentRect.width })).observe(root);
actions.send({ type: 'ready' });
