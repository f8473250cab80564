import { html, nothing, type TemplateResult } from 'lit-html';

export interface Chart {
  readonly title: string;
  /** What is to be seen, in a sentence or two. */
  readonly caption: string;
  /** For those who do not see it: what it shows, in a sentence. */
  readonly label: string;
  readonly width: number;
  readonly height: number;
  readonly drawing: TemplateResult;
  readonly legend?: TemplateResult;
  readonly table: DataTable;
}

/** The same figures as text; the first cell of a row is its name. */
export interface DataTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A chart with its heading, and its figures as a table for whoever wants to read them. */
export function chartFrame(chart: Chart): TemplateResult {
  const { title, caption, label, width, height, drawing, legend, table } = chart;
  return html`
    <section class="chart">
      <h3>${title}</h3>
      <p class="caption">${caption}</p>
      <svg class="chart-drawing" role="img" aria-label=${label} width=${width} height=${height} viewBox="0 0 ${width} ${height}">
        ${drawing}
      </svg>
      ${legend ?? nothing}
      <details class="chart-data">
        <summary>Figures</summary>
        ${dataTable(title, table)}
      </details>
    </section>
  `;
}

function dataTable(title: string, { columns, rows }: DataTable): TemplateResult {
  return html`
    <div class="table-scroll" role="region" aria-label="${title}: figures" tabindex="0">
      <table>
        <thead>
          <tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr>
        </thead>
        <tbody>
          ${rows.map(
            ([name, ...cells]) => html`
              <tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  `;
}
