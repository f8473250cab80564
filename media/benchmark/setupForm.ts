import { html, nothing, type TemplateResult } from 'lit-html';
import type { Algorithm, AlgorithmFacts } from '../../engine/protocol.ts';
import { algorithmDescriptions, algorithmNames } from '../../extension/algorithmNames.ts';
import { mostTasks, type PanelState } from '../../extension/benchmark/messages.ts';
import type { Actions, Model } from './model.ts';
import { counted } from './numbers.ts';
import type { ViewState } from './viewState.ts';

/** What to measure, and the button that begins; or why nothing can be measured. */
export function setupForm(
  { view }: Model,
  { engine, run, report }: PanelState,
  actions: Actions,
): TemplateResult {
  switch (engine.kind) {
    case 'off':
      return notice('Slipstream is disabled, so there is no engine to measure.', [
        html`<button @click=${() => actions.send({ type: 'enable' })}>Enable</button>`,
      ]);
    case 'starting':
      return notice('The engine is starting …', []);
    case 'failed':
      return notice(`The engine does not run: ${engine.message}`, [
        html`<button @click=${() => actions.send({ type: 'restartEngine' })}>Restart Engine</button>`,
        html`<button class="secondary" @click=${() => actions.send({ type: 'showLog' })}>Show Log</button>`,
      ]);
    case 'ready': {
      const isRunning = run.kind === 'running' || run.kind === 'cancelling';
      const form = choices(view, engine.algorithms, isRunning, report !== undefined, actions);
      if (!report) return form;
      return html`
        <details class="setup-again">
          <summary>${describeChoice(view, engine.algorithms)}</summary>
          ${form}
        </details>
      `;
    }
  }
}

function notice(text: string, buttons: readonly TemplateResult[]): TemplateResult {
  return html`
    <section class="notice" role="status">
      <p>${text}</p>
      ${buttons.length > 0 ? html`<div class="buttons">${buttons}</div>` : nothing}
    </section>
  `;
}

function choices(
  view: ViewState,
  algorithms: readonly AlgorithmFacts[],
  isRunning: boolean,
  hasReport: boolean,
  { send, look }: Actions,
): TemplateResult {
  const chosen = chosenAlgorithms(view, algorithms);
  const toggle = (algorithm: Algorithm, isOn: boolean) =>
    look({ algorithms: isOn ? [...chosen, algorithm] : chosen.filter((other) => other !== algorithm) });
  const canStart = !isRunning && chosen.length > 1;
  const start = (event: Event) => {
    event.preventDefault();
    if (canStart) send({ type: 'start', algorithms: [...chosen], tasks: view.tasks, seed: view.seed });
  };
  return html`
    <form class="setup" aria-label="What to measure" @submit=${start}>
      <fieldset>
        <legend>Algorithms</legend>
        <div class="algorithms">
          ${inOrder(algorithms).map((facts) =>
            algorithmChoice(facts, chosen.includes(facts.algorithm), isRunning, (isOn) =>
              toggle(facts.algorithm, isOn),
            ),
          )}
        </div>
      </fieldset>
      <div class="setup-row">
        ${numberField(
          'Places',
          'How many places of your code to complete',
          view.tasks,
          [1, mostTasks],
          isRunning,
          (tasks) => look({ tasks }),
        )}
        ${numberField(
          'Seed',
          'Chooses the places: one seed, one choice',
          view.seed,
          [0, 2 ** 31 - 1],
          isRunning,
          (seed) => look({ seed }),
        )}
        <button type="submit" aria-disabled=${!canStart}>${hasReport ? 'Run Again' : 'Run Benchmark'}</button>
        ${chosen.length < 2 ? html`<span class="hint">Tick an algorithm to compare with plain decoding.</span>` : nothing}
      </div>
    </form>
  `;
}

function algorithmChoice(
  { algorithm, missing, note }: AlgorithmFacts,
  isOn: boolean,
  isRunning: boolean,
  onToggle: (isOn: boolean) => void,
): TemplateResult {
  const isFixed = isRunning || algorithm === 'none' || missing !== undefined;
  const about =
    algorithm === 'none'
      ? 'one token a step: what the others are compared with'
      : algorithmDescriptions[algorithm];
  return html`
    <label class="algorithm ${missing === undefined ? '' : 'is-missing'}">
      <input
        type="checkbox"
        name=${algorithm}
        .checked=${isOn}
        aria-disabled=${isFixed}
        @click=${(event: Event) => isFixed && event.preventDefault()}
        @change=${(event: Event) => onToggle((event.target as HTMLInputElement).checked)}
      />
      <span class="algorithm-name">${algorithmNames[algorithm]}</span>
      <span class="algorithm-about">${missing ?? note ?? about}</span>
    </label>
  `;
}

function numberField(
  name: string,
  title: string,
  value: number,
  [min, max]: readonly [number, number],
  isReadOnly: boolean,
  onChange: (value: number) => void,
): TemplateResult {
  const read = ({ target }: Event) => {
    const input = target as HTMLInputElement;
    if (input.value !== '' && input.checkValidity()) onChange(input.valueAsNumber);
  };
  return html`
    <label class="number-field" title=${title}>
      <span>${name}</span>
      <input type="number" required min=${min} max=${max} step="1" .value=${String(value)} ?readonly=${isReadOnly}
        @input=${read} />
    </label>
  `;
}

/** Plain decoding is always measured. Until the user chooses: all that can run and is not another one by another name. */
function chosenAlgorithms(view: ViewState, algorithms: readonly AlgorithmFacts[]): readonly Algorithm[] {
  return algorithms
    .filter(({ missing }) => missing === undefined)
    .filter(({ algorithm, note }) =>
      algorithm === 'none' ? true : (view.algorithms?.includes(algorithm) ?? note === undefined),
    )
    .map(({ algorithm }) => algorithm);
}

/** Those that can be ticked first. */
function inOrder(algorithms: readonly AlgorithmFacts[]): readonly AlgorithmFacts[] {
  return [...algorithms].sort((a, b) => Number(a.missing !== undefined) - Number(b.missing !== undefined));
}

function describeChoice(view: ViewState, algorithms: readonly AlgorithmFacts[]): string {
  const chosen = chosenAlgorithms(view, algorithms).map((algorithm) => algorithmNames[algorithm]);
  return `Run again: ${counted(view.tasks, 'place')}, seed ${view.seed}, ${chosen.join(', ')}`;
}
