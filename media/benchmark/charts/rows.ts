/** The frame of a chart with one row for each algorithm: names at the left, a figure at the right, ticks below. */
import { scaleLinear } from 'd3-scale';
import { svg, type TemplateResult } from 'lit-html';

const NAME_WIDTH = 118;
const FIGURE_WIDTH = 64;
const AXIS_HEIGHT = 24;
const TICK_DISTANCE = 70;

export interface RowChart {
  readonly width: number;
  readonly height: number;
  readonly rowHeight: number;
  /** From a value to the x of it. */
  readonly x: (value: number) => number;
  readonly ticks: readonly number[];
}

export function rowChart(rows: number, rowHeight: number, width: number, max: number): RowChart {
  const scale = scaleLinear()
    .domain([0, max > 0 ? max : 1])
    .range([NAME_WIDTH, Math.max(NAME_WIDTH + 40, width - FIGURE_WIDTH)])
    .nice();
  const [left, right] = scale.range();
  const ticks = scale.ticks(Math.max(2, Math.floor((right - left) / TICK_DISTANCE)));
  return { width, height: rows * rowHeight + AXIS_HEIGHT, rowHeight, x: scale, ticks };
}

/** @param format of a tick */
export function rowAxis({ height, x, ticks }: RowChart, format: (value: number) => string): TemplateResult {
  const bottom = height - AXIS_HEIGHT;
  return svg`
    <g class="axis">
      ${ticks.map(
        (tick) => svg`
          <line class="grid" x1=${x(tick)} x2=${x(tick)} y1="0" y2=${bottom} />
          <text x=${x(tick)} y=${bottom + 16} text-anchor="middle">${format(tick)}</text>
        `,
      )}
    </g>
  `;
}

/** @param content drawn around y = 0, the middle of the row */
export function chartRow(
  { width, rowHeight }: RowChart,
  row: number,
  { name, figure, hint, className }: { name: string; figure: string; hint: string; className: string },
  content: TemplateResult,
): TemplateResult {
  return svg`
    <g class="row ${className}" transform="translate(0 ${(row + 0.5) * rowHeight})">
      <title>${hint}</title>
      <rect class="row-area" x="0" y=${-rowHeight / 2} width=${width} height=${rowHeight} />
      <text class="row-name" x=${NAME_WIDTH - 10} text-anchor="end" dominant-baseline="central">${name}</text>
      ${content}
      <text class="row-figure" x=${width - 2} text-anchor="end" dominant-baseline="central">${figure}</text>
    </g>
  `;
}
