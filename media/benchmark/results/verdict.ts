import { html, nothing, type TemplateResult } from 'lit-html';
import type { BenchmarkReport, OutputDifference } from '../../../engine/protocol.ts';
import { algorithmNames } from '../../../extension/algorithmNames.ts';
import type { PanelState } from '../../../extension/benchmark/messages.ts';
import { icons } from '../icons.ts';
import type { Actions } from '../model.ts';
import { counted, moment } from '../numbers.ts';

/**
 * The outcome in a sentence, what to do about it, and loudly what is wrong. The button keeps the focus when it has done its work: one
 * that is disabled swallows the editor's keys.
 */
export function verdict(report: BenchmarkReport, { inUse }: PanelState, { send }: Actions): TemplateResult {
  const { fastest, summary, notes, cancelled, tasks, material, created } = report;
  const isInUse = fastest === inUse;
  return html`
    <section class="verdict" aria-labelledby="verdict-heading">
      <h2 id="verdict-heading" class="visually-hidden">Result</h2>
      ${differences(report.differences)}
      <p class="summary">${summary}</p>
      <div class="verdict-actions">
        <button aria-disabled=${isInUse} @click=${() => isInUse || send({ type: 'useFastest' })}>
          ${isInUse ? `In use: ${algorithmNames[fastest]}` : `Use the Fastest: ${algorithmNames[fastest]}`}
        </button>
        <span class="hint">
          ${counted(tasks.length, 'place')} of ${material.kind === 'sample' ? 'the sample' : material.name}, ${moment(created)}
        </span>
      </div>
      ${
        cancelled || notes.length > 0
          ? html`
              <ul class="notes">
                ${cancelled ? html`<li class="is-warning">Cancelled: these are the places that were done by then.</li>` : nothing}
                ${notes.map((note) => html`<li>${note}</li>`)}
              </ul>
            `
          : nothing
      }
    </section>
  `;
}

const MOST_SHOWN = 5;

function differences(found: readonly OutputDifference[]): TemplateResult | typeof nothing {
  if (found.length === 0) return nothing;
  const more = found.length - MOST_SHOWN;
  return html`
    <div class="notice is-error" role="alert">
      <p class="error-title">${icons.error} Not lossless: speculation changed what is written. This must not happen.</p>
      <ul>
        ${found.slice(0, MOST_SHOWN).map(({ cause }) => html`<li>${cause}</li>`)}
        ${more > 0 ? html`<li>and ${counted(more, 'difference')} more: the exported JSON has all</li>` : nothing}
      </ul>
    </div>
  `;
}
