import { html, nothing, type TemplateResult } from 'lit-html';
import type { AlgorithmResult, BenchmarkReport } from '../../../engine/protocol.ts';
import { algorithmNames } from '../../../extension/algorithmNames.ts';
import type { Actions } from '../model.ts';
import { milliseconds, moment, times, whole } from '../numbers.ts';
import { describeMachine, describeMaterial, describeModel } from './facts.ts';

const figures: readonly (readonly [
  title: string,
  value: (result: AlgorithmResult) => number,
  format: (value: number) => string,
])[] = [
  ['Speed-up', ({ speedup }) => speedup, times],
  ['Tokens/s', ({ tokens_per_s }) => tokens_per_s, whole],
  ['Acceptance length', (result) => result.mean_acceptance_length, (value) => value.toFixed(2)],
  ['Suggestion p50', ({ latency_ms }) => latency_ms.p50, milliseconds],
];

/** This run and an earlier one side by side, over all places. */
export function comparison(
  report: BenchmarkReport,
  previous: BenchmarkReport,
  { send }: Actions,
): TemplateResult {
  const conditions = differentConditions(report, previous);
  return html`
    <section class="comparison" aria-labelledby="comparison-heading">
      <div class="section-header">
        <h2 id="comparison-heading">Beside the run of ${moment(previous.created)}</h2>
        <button class="secondary" @click=${() => send({ type: 'closePrevious' })}>Close Comparison</button>
      </div>
      ${conditions.length > 0 ? differingConditions(conditions) : nothing}
      <div class="table-scroll" role="region" aria-label="This run beside the earlier one" tabindex="0">
        <table>
          <thead>
            <tr>
              <td></td>
              ${figures.map(([title]) => html`<th scope="colgroup" colspan="2">${title}</th>`)}
            </tr>
            <tr>
              <th scope="col">Algorithm</th>
              ${figures.map(() => html`<th scope="col">this run</th><th scope="col">earlier</th>`)}
            </tr>
          </thead>
          <tbody>
            ${overall(report).map((result) => row(result, overall(previous)))}
          </tbody>
        </table>
      </div>
    </section>
  `;
}

function row(result: AlgorithmResult, earlier: readonly AlgorithmResult[]): TemplateResult {
  const before = earlier.find(({ algorithm }) => algorithm === result.algorithm);
  return html`
    <tr>
      <th scope="row">${algorithmNames[result.algorithm]}</th>
      ${figures.map(
        ([, value, format]) => html`
          <td>${format(value(result))}</td>
          <td class="is-earlier">${before ? format(value(before)) : '–'}</td>
        `,
      )}
    </tr>
  `;
}

interface Condition {
  readonly name: string;
  readonly now: string;
  readonly before: string;
}

function differingConditions(conditions: readonly Condition[]): TemplateResult {
  return html`
    <div class="notice is-warning">
      <p>The two were not measured alike, so a difference may come from that:</p>
      <ul>
        ${conditions.map(({ name, now, before }) => html`<li>${name}: ${now}, earlier ${before}</li>`)}
      </ul>
    </div>
  `;
}

function differentConditions(report: BenchmarkReport, previous: BenchmarkReport): Condition[] {
  const named: readonly (readonly [name: string, of: (report: BenchmarkReport) => string])[] = [
    ['Machine', describeMachine],
    ['Model', describeModel],
    ['Code', describeMaterial],
    ['Places', ({ tasks }) => String(tasks.length)],
    ['Seed', ({ seed }) => String(seed)],
    ['Longest completion', ({ max_new_tokens }) => String(max_new_tokens)],
  ];
  return named
    .map(([name, of]) => ({ name, now: of(report), before: of(previous) }))
    .filter(({ now, before }) => now !== before);
}

const overall = ({ results }: BenchmarkReport) => results.filter(({ task_class }) => task_class === 'all');
