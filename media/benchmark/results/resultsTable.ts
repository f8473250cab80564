import { html, nothing, type TemplateResult } from 'lit-html';
import type { AlgorithmResult, BenchmarkReport } from '../../../engine/protocol.ts';
import { taskClasses } from '../../../extension/benchmark/reportNames.ts';
import { sameText } from '../../../extension/benchmark/sameText.ts';
import type { Actions, Model } from '../model.ts';
import type { ViewState } from '../viewState.ts';
import { type ResultColumn, resultColumns } from './resultColumns.ts';

type Sort = ViewState['sort'];

/** Every figure. A click on a heading sorts by it: down, up, and back to class by class. */
export function resultsTable(
  { view: { sort } }: Model,
  { results, differences }: BenchmarkReport,
  { look }: Actions,
): TemplateResult {
  const sorted = sortResults(results, sort);
  return html`
    <section class="results" aria-labelledby="results-heading">
      <h2 id="results-heading">All figures</h2>
      <div class="table-scroll" role="region" aria-label="All figures" tabindex="0">
        <table class="results-table">
          <thead>
            <tr>${resultColumns.map((column) => heading(column, sort, (next) => look({ sort: next })))}</tr>
          </thead>
          <tbody>
            ${sorted.map((result, i) => row(result, differences, sort === undefined && beginsClass(sorted, i)))}
          </tbody>
        </table>
      </div>
      ${columnMeanings}
    </section>
  `;
}

/** As the tooltips of the headings, for those without a mouse. */
const columnMeanings = html`
  <details class="column-meanings">
    <summary>What the columns mean</summary>
    <dl>${resultColumns.map(({ title, about }) => html`<div><dt>${title}</dt><dd>${about}</dd></div>`)}</dl>
  </details>
`;

function heading(
  { id, title, about }: ResultColumn,
  sort: Sort,
  onSort: (sort: Sort) => void,
): TemplateResult {
  const isSorted = sort?.column === id;
  const direction = !isSorted ? 'none' : sort.descending ? 'descending' : 'ascending';
  const mark = !isSorted ? nothing : html`<span aria-hidden="true">${sort.descending ? ' ↓' : ' ↑'}</span>`;
  return html`
    <th scope="col" aria-sort=${direction}>
      <button class="heading-button" title=${about} @click=${() => onSort(nextSort(id, sort))}>${title}${mark}</button>
    </th>
  `;
}

function nextSort(column: string, sort: Sort): Sort {
  if (sort?.column !== column) return { column, descending: true };
  return sort.descending ? { column, descending: false } : undefined;
}

function row(
  result: AlgorithmResult,
  differences: BenchmarkReport['differences'],
  beginsGroup: boolean,
): TemplateResult {
  const [first, second, ...rest] = resultColumns;
  return html`
    <tr class="${beginsGroup ? 'begins-group' : ''} ${sameText(result, differences) === 'no' ? 'is-faulty' : ''}">
      <th scope="row">${first.text(result, differences)}</th>
      <th scope="row">${second.text(result, differences)}</th>
      ${rest.map((column) => html`<td>${column.text(result, differences)}</td>`)}
    </tr>
  `;
}

function sortResults(results: readonly AlgorithmResult[], sort: Sort): readonly AlgorithmResult[] {
  const column = resultColumns.find(({ id }) => id === sort?.column);
  if (!sort || !column) return byClass(results);
  const sign = sort.descending ? -1 : 1;
  return [...results].sort((a, b) => {
    const [left, right] = [column.value(a), column.value(b)];
    return sign * (left < right ? -1 : left > right ? 1 : 0);
  });
}

const byClass = (results: readonly AlgorithmResult[]) =>
  (['all', ...taskClasses] as const).flatMap((shown) =>
    results.filter(({ task_class }) => task_class === shown),
  );

const beginsClass = (results: readonly AlgorithmResult[], i: number) =>
  i > 0 && results[i].task_class !== results[i - 1].task_class;
