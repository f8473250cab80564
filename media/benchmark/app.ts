import { html, nothing, type TemplateResult } from 'lit-html';
import type { PanelState } from '../../extension/benchmark/messages.ts';
import { charts } from './charts/charts.ts';
import type { Actions, Model } from './model.ts';
import { comparison } from './results/comparison.ts';
import { facts } from './results/facts.ts';
import { resultsTable } from './results/resultsTable.ts';
import { verdict } from './results/verdict.ts';
import { runStatus } from './runStatus.ts';
import { setupForm } from './setupForm.ts';
import { timeline } from './timeline/timeline.ts';

/**
 * The whole page. What cannot be used for now is `aria-disabled` and keeps the focus: a control that is disabled swallows
 * the editor's keys.
 */
export function app(model: Model, state: PanelState, actions: Actions): TemplateResult {
  const { report, previous } = state;
  return html`
    ${header(state, actions)}
    ${setupForm(model, state, actions)}
    ${runStatus(state, actions)}
    ${verdict(state, actions)}
    ${
      report
        ? html`
            ${previous ? comparison(report, previous, actions) : nothing}
            ${charts(model, report, previous, actions)}
            ${timeline(model, report, actions)}
            ${resultsTable(model, report, actions)}
            ${facts(report)}
          `
        : nothing
    }
  `;
}

function header({ report }: PanelState, { send }: Actions): TemplateResult {
  return html`
    <header class="page-header">
      <div>
        <h1>Benchmark</h1>
        <p class="lead">
          How fast is each drafting algorithm on your own code? Real places are completed by each of them in turn. All of
          them write the same text; only the time differs. Nothing leaves this machine.
        </p>
      </div>
      <div class="toolbar" role="group" aria-label="Reports">
        <button class="secondary" @click=${() => send({ type: 'openReport' })}>
          ${report ? 'Compare with a File…' : 'Open a Report…'}
        </button>
        ${
          report
            ? html`
                <button class="secondary" @click=${() => send({ type: 'copyMarkdown' })}>Copy as Markdown</button>
                <button class="secondary" @click=${() => send({ type: 'exportJson' })}>Export JSON…</button>
              `
            : nothing
        }
      </div>
    </header>
  `;
}
