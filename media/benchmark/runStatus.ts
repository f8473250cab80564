import { html, nothing, type TemplateResult } from 'lit-html';
import type { BenchmarkProgress } from '../../engine/protocol.ts';
import type { PanelState } from '../../extension/benchmark/messages.ts';
import type { Actions } from './model.ts';
import { duration } from './numbers.ts';

/** How far the run is, or how it ended when it ended without a report. */
export function runStatus({ run }: PanelState, { send }: Actions): TemplateResult | typeof nothing {
  switch (run.kind) {
    case 'idle':
      return nothing;
    case 'running':
      return html`
        <section class="run" aria-label="Progress">
          ${progressLine(run.progress)}
          <button class="secondary" @click=${() => send({ type: 'cancel' })}>Cancel</button>
        </section>
      `;
    case 'cancelling':
      return html`<section class="run"><p role="status">Cancelling …</p></section>`;
    case 'cancelled':
      return html`<section class="notice" role="status"><p>Cancelled before anything was measured.</p></section>`;
    case 'failed':
      return html`
        <section class="notice is-error" role="alert">
          <p>${run.message}</p>
          <div class="buttons">
            <button class="secondary" @click=${() => send({ type: 'showLog' })}>Show Log</button>
          </div>
        </section>
      `;
  }
}

/** Only the words are announced, once a phase: the figures change several times a second. */
function progressLine({ phase, detail, done, total, remainingMs }: BenchmarkProgress): TemplateResult {
  const words = phase === 'warmingUp' ? 'Warming up: not measured' : detail;
  const figures = total === 0 ? '' : `${done} of ${total} completions`;
  const remaining = remainingMs === undefined ? '' : `about ${duration(remainingMs)} left`;
  return html`
    <div class="run-progress">
      <p>
        <span role="status">${words}</span>
        <span class="run-figures">${[figures, remaining].filter((part) => part !== '').join(' · ')}</span>
      </p>
      ${
        total === 0
          ? html`<progress aria-label=${words}></progress>`
          : html`<progress aria-label=${words} max=${total} .value=${done}></progress>`
      }
      <p class="hint">No suggestions meanwhile, so that nothing disturbs the measurement.</p>
    </div>
  `;
}
