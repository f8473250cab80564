import { html, svg, type TemplateResult } from 'lit-html';
import type { Algorithm, AlgorithmResult, TaskRunFacts } from '../../../engine/protocol.ts';
import { algorithmNames } from '../../../extension/algorithmNames.ts';
import { milliseconds } from '../numbers.ts';
import { chartFrame } from './chartFrame.ts';
import { chartRow, type RowChart, rowAxis, rowChart } from './rows.ts';
import type { Series } from './series.ts';

const ROW = 34;
const percentiles = ['p50', 'p90', 'p99'] as const;
/** Spreads points evenly however many there are, the same way each time. */
const GOLDEN_RATIO = 0.618034;

/** How long whole suggestions took: a point each, and the percentiles. */
export function latencyChart(
  results: readonly AlgorithmResult[],
  runs: readonly TaskRunFacts[],
  series: ReadonlyMap<Algorithm, Series>,
  width: number,
): TemplateResult {
  const chart = rowChart(
    results.length,
    ROW,
    width,
    Math.max(...results.map(({ latency_ms }) => latency_ms.max)),
  );
  const drawing = svg`
    ${rowAxis(chart, (value) => value.toLocaleString('en'))}
    ${results.map((result, row) => {
      const { algorithm, latency_ms } = result;
      const text = {
        name: algorithmNames[algorithm],
        figure: milliseconds(latency_ms.p50),
        hint: describe(result),
        className: series.get(algorithm)!.className,
      };
      const own = runs.filter((run) => run.algorithm === algorithm);
      return chartRow(chart, row, text, svg`${points(chart, own)}${marks(chart, result)}`);
    })}
  `;
  return chartFrame({
    title: 'Time to the whole suggestion',
    caption:
      'In ms from the request, the prompt warm as while typing. The figure at the right is the median.',
    label: `Distribution chart. ${results.map(describe).join('; ')}.`,
    width,
    height: chart.height,
    drawing,
    legend,
    table: {
      columns: ['Algorithm', 'p50', 'p90', 'p99', 'longest'],
      rows: results.map(({ algorithm, latency_ms: { p50, p90, p99, max } }) => [
        algorithmNames[algorithm],
        ...[p50, p90, p99, max].map(milliseconds),
      ]),
    },
  });
}

function points({ x, rowHeight }: RowChart, runs: readonly TaskRunFacts[]): TemplateResult {
  const spread = rowHeight * 0.5;
  const y = (i: number) => (((i + 0.5) * GOLDEN_RATIO) % 1) * spread - spread / 2;
  return svg`${runs.map(({ latency_ms }, i) => svg`<circle class="point" cx=${x(latency_ms)} cy=${y(i)} r="3" />`)}`;
}

function marks({ x, rowHeight }: RowChart, { latency_ms }: AlgorithmResult): TemplateResult {
  const reach = rowHeight * 0.36;
  return svg`${percentiles.map(
    (name) =>
      svg`<line class="mark ${name}" x1=${x(latency_ms[name])} x2=${x(latency_ms[name])} y1=${-reach} y2=${reach} />`,
  )}`;
}

const legend = html`
  <ul class="legend" aria-hidden="true">
    <li><svg class="legend-mark" width="14" height="14"><circle class="point" cx="7" cy="7" r="3" /></svg>a suggestion</li>
    ${percentiles.map(
      (name) => html`
        <li><svg class="legend-mark" width="8" height="14"><line class="mark ${name}" x1="4" x2="4" y1="0" y2="14" /></svg>${name}</li>
      `,
    )}
  </ul>
`;

function describe({ algorithm, latency_ms: { p50, p90, p99 } }: AlgorithmResult): string {
  return `${algorithmNames[algorithm]} p50 ${milliseconds(p50)}, p90 ${milliseconds(p90)}, p99 ${milliseconds(p99)}`;
}
