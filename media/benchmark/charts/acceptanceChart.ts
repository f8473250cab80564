import { scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import { html, svg, type TemplateResult } from 'lit-html';
import type { Algorithm, AlgorithmResult } from '../../../engine/protocol.ts';
import { algorithmNames } from '../../../extension/algorithmNames.ts';
import { percent } from '../numbers.ts';
import { chartFrame } from './chartFrame.ts';
import type { Series } from './series.ts';

const HEIGHT = 210;
const margin = { top: 10, right: 16, bottom: 38, left: 44 };
const shares = [0, 0.25, 0.5, 0.75, 1];

/** How often the first, second, third ... token of a draft is accepted. */
export function acceptanceChart(
  all: readonly AlgorithmResult[],
  series: ReadonlyMap<Algorithm, Series>,
  width: number,
): TemplateResult {
  const results = all.filter(({ acceptance_rate_per_pos: rates }) => rates.length > 0);
  const positions = Math.max(1, ...results.map(({ acceptance_rate_per_pos: rates }) => rates.length));
  const x = scaleLinear()
    .domain([1, Math.max(2, positions)])
    .range([margin.left, width - margin.right]);
  const y = scaleLinear().range([HEIGHT - margin.bottom, margin.top]);
  const curve = line<number>((_, position) => x(position + 1), y);
  const drawing = svg`
    <g class="axis">
      ${shares.map(
        (share) => svg`
          <line class="grid" x1=${margin.left} x2=${width - margin.right} y1=${y(share)} y2=${y(share)} />
          <text x=${margin.left - 8} y=${y(share)} text-anchor="end" dominant-baseline="central">${percent(share)}</text>
        `,
      )}
      ${wholeTicks(x, positions).map(
        (position) =>
          svg`<text x=${x(position)} y=${HEIGHT - margin.bottom + 16} text-anchor="middle">${position}</text>`,
      )}
      <text x=${(margin.left + width - margin.right) / 2} y=${HEIGHT - 4} text-anchor="middle">position in the draft</text>
    </g>
    ${results.map(
      (result) => svg`
        <g class=${series.get(result.algorithm)!.className}>
          <title>${describe(result)}</title>
          <path class="curve" d=${curve(result.acceptance_rate_per_pos)} />
          ${result.acceptance_rate_per_pos.map(
            (rate, i) => svg`
              <path class="marker" d=${series.get(result.algorithm)!.marker} transform="translate(${x(i + 1)} ${y(rate)})" />
            `,
          )}
        </g>
      `,
    )}
  `;
  return chartFrame({
    title: 'Acceptance by position',
    caption:
      'Share of the drafts whose first, second, third … token the model accepted. The longer a line stays up, the further ahead it pays to draft.',
    label:
      results.length === 0
        ? 'Line chart: nothing was drafted.'
        : `Line chart. ${results.map(describe).join('; ')}.`,
    width,
    height: HEIGHT,
    drawing: results.length === 0 ? nothingDrafted(width) : drawing,
    legend: legend(results, series),
    table: {
      columns: ['Algorithm', ...Array.from({ length: positions }, (_, i) => String(i + 1))],
      rows: results.map(({ algorithm, acceptance_rate_per_pos: rates }) => [
        algorithmNames[algorithm],
        ...Array.from({ length: positions }, (_, i) => (i < rates.length ? percent(rates[i]) : '')),
      ]),
    },
  });
}

function wholeTicks(x: { ticks(count: number): number[] }, positions: number): readonly number[] {
  return [...new Set([1, ...x.ticks(Math.min(positions, 10)).filter(Number.isInteger)])].filter(
    (tick) => tick <= positions,
  );
}

const nothingDrafted = (width: number) => svg`
  <text class="empty" x=${width / 2} y=${HEIGHT / 2} text-anchor="middle">Nothing was drafted here.</text>
`;

function legend(results: readonly AlgorithmResult[], series: ReadonlyMap<Algorithm, Series>): TemplateResult {
  return html`
    <ul class="legend" aria-hidden="true">
      ${results.map(({ algorithm }) => {
        const { className, marker } = series.get(algorithm)!;
        return html`
          <li>
            <svg class="legend-mark ${className}" width="30" height="14">
              <path class="curve" d="M1 7H29" />
              <path class="marker" d=${marker} transform="translate(15 7)" />
            </svg>
            ${algorithmNames[algorithm]}
          </li>
        `;
      })}
    </ul>
  `;
}

function describe({ algorithm, acceptance_rate_per_pos: rates }: AlgorithmResult): string {
  const [first] = rates;
  const last = rates.length > 1 ? ` falling to ${percent(rates.at(-1)!)} at position ${rates.length}` : '';
  return `${algorithmNames[algorithm]} ${percent(first)} at the first position${last}`;
}
