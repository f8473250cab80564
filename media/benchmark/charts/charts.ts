import { html, type TemplateResult } from 'lit-html';
import type { BenchmarkReport } from '../../../engine/protocol.ts';
import { taskClasses, taskClassNames } from '../../../extension/benchmark/reportNames.ts';
import type { Actions, Model } from '../model.ts';
import type { ViewState } from '../viewState.ts';
import { acceptanceChart } from './acceptanceChart.ts';
import { latencyChart } from './latencyChart.ts';
import { seriesOf } from './series.ts';
import { sourceChart } from './sourceChart.ts';
import { speedupChart } from './speedupChart.ts';

const WIDE_FROM = 860;
const GAP = 32;

type ShownClass = ViewState['taskClass'];

/** The charts of one class of places, or of all of them. */
export function charts(
  { view, width }: Model,
  report: BenchmarkReport,
  previous: BenchmarkReport | undefined,
  { look }: Actions,
): TemplateResult {
  const shown = hasResults(report, view.taskClass) ? view.taskClass : 'all';
  const results = resultsOf(report, shown);
  const series = seriesOf(report.algorithms);
  const isWide = width >= WIDE_FROM;
  const chartWidth = Math.floor(isWide ? (width - GAP) / 2 : width);
  return html`
    <section class="charts" aria-labelledby="charts-heading">
      <div class="section-header">
        <h2 id="charts-heading">Speed</h2>
        ${classPicker(report, shown, (taskClass) => look({ taskClass }))}
      </div>
      <div class="chart-grid ${isWide ? 'is-wide' : ''}">
        ${speedupChart(results, previous ? resultsOf(previous, shown) : [], report.fastest, chartWidth)}
        ${latencyChart(results, runsOf(report, shown), series, chartWidth)}
        ${acceptanceChart(results, series, chartWidth)}
        ${sourceChart(results, chartWidth)}
      </div>
    </section>
  `;
}

function classPicker(
  report: BenchmarkReport,
  shown: ShownClass,
  onPick: (taskClass: ShownClass) => void,
): TemplateResult {
  const classes = (['all', ...taskClasses] as const).filter((taskClass) => hasResults(report, taskClass));
  return html`
    <fieldset class="segments">
      <legend class="visually-hidden">Places</legend>
      ${classes.map(
        (taskClass) => html`
          <label>
            <input type="radio" name="task-class" value=${taskClass} .checked=${taskClass === shown}
              @change=${() => onPick(taskClass)} />
            <span>${taskClass === 'all' ? 'All places' : taskClassNames[taskClass]}</span>
          </label>
        `,
      )}
    </fieldset>
  `;
}

const resultsOf = ({ results }: BenchmarkReport, shown: ShownClass) =>
  results.filter(({ task_class }) => task_class === shown);

const hasResults = (report: BenchmarkReport, shown: ShownClass) => resultsOf(report, shown).length > 0;

function runsOf({ runs, tasks }: BenchmarkReport, shown: ShownClass) {
  const inClass = new Set(
    tasks.filter(({ task_class }) => shown === 'all' || task_class === shown).map(({ id }) => id),
  );
  return runs.filter(({ task }) => inClass.has(task));
}
