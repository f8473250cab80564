import { html, nothing, type TemplateResult } from 'lit-html';
import type { BenchmarkReport, OutputDifference } from '../../../engine/protocol.ts';
import { algorithmNames } from '../../../extension/algorithmNames.ts';
import type { PanelState } from '../../../extension/benchmark/messages.ts';
import { icons } from '../icons.ts';
import type { Actions } from '../model.ts';
import { counted, moment } from '../numbers.ts';

/**
 * The outcome in a sentence, what to do about it, and loudly what is wrong. It is there, unseen, before there is a report:
 * a screen reader says what changes in a live region that it knows, not what comes together with one.
 */
export function verdict({ report, inUse }: PanelState, { send }: Actions): TemplateResult {
  return html`
    <section class="verdict ${report ? '' : 'visually-hidden'}" aria-labelledby="verdict-heading">
      ${report ? html`<h2 id="verdict-heading" class="visually-hidden">Result</h2>${faults(report)}` : nothing}
      <p class="summary" role="status">${report?.summary}</p>
      ${report ? html`${useFastest(report, inUse, send)}${noteList(report)}` : nothing}
    </section>
  `;
}

function faults({ differences }: BenchmarkReport): TemplateResult | typeof nothing {
  const found = differences.filter(({ is_fault }) => is_fault);
  if (found.length === 0) return nothing;
  return html`
    <div class="notice is-error" role="alert">
      <p class="error-title">${icons.error} Not lossless: speculation changed what is written. This must not happen.</p>
      <ul>${causes(found)}</ul>
    </div>
  `;
}

/** The button that takes the fastest one into use, and what was measured. */
function useFastest(
  { fastest, tasks, material, created }: BenchmarkReport,
  inUse: PanelState['inUse'],
  send: Actions['send'],
): TemplateResult {
  const isInUse = fastest === inUse;
  return html`
    <div class="verdict-actions">
      <button aria-disabled=${isInUse} @click=${() => isInUse || send({ type: 'useFastest' })}>
        ${isInUse ? `In use: ${algorithmNames[fastest]}` : `Use the Fastest: ${algorithmNames[fastest]}`}
      </button>
      <span class="hint">
        ${counted(tasks.length, 'place')} of ${material.kind === 'sample' ? 'the sample' : material.name}, ${moment(created)}
      </span>
    </div>
  `;
}

function noteList({ cancelled, notes, differences }: BenchmarkReport): TemplateResult | typeof nothing {
  const nearTies = differences.filter(({ is_fault }) => !is_fault);
  if (!cancelled && notes.length === 0 && nearTies.length === 0) return nothing;
  return html`
    <ul class="notes">
      ${cancelled ? html`<li class="is-warning">Cancelled: these are the places that were done by then.</li>` : nothing}
      ${notes.map((note) => html`<li>${note}</li>`)}
      ${causes(nearTies)}
    </ul>
  `;
}

const MOST_SHOWN = 5;

function causes(differences: readonly OutputDifference[]): TemplateResult {
  const more = differences.length - MOST_SHOWN;
  return html`
    ${differences.slice(0, MOST_SHOWN).map(({ cause }) => html`<li>${cause}</li>`)}
    ${more > 0 ? html`<li>and ${counted(more, 'difference')} more: the exported JSON has all</li>` : nothing}
  `;
}
