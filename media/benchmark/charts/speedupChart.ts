import { svg, type TemplateResult } from 'lit-html';
import type { Algorithm, AlgorithmResult } from '../../../engine/protocol.ts';
import { algorithmNames } from '../../../extension/algorithmNames.ts';
import { times } from '../numbers.ts';
import { type Chart, chartFrame } from './chartFrame.ts';
import { chartRow, type RowChart, rowAxis, rowChart } from './rows.ts';

const ROW = 34;
const ROW_WITH_PREVIOUS = 46;
const CAP = 4;

/**
 * Decoding speed over plain decoding, with its interval.
 *
 * @param previous the same algorithms in an earlier run; empty without one
 */
export function speedupChart(
  results: readonly AlgorithmResult[],
  previous: readonly AlgorithmResult[],
  fastest: Algorithm,
  width: number,
): TemplateResult {
  const before = new Map(previous.map((result) => [result.algorithm, result]));
  const highest = Math.max(
    ...[...results, ...previous].map(({ speedup, speedup_ci: [, high] }) => Math.max(speedup, high)),
  );
  const chart = rowChart(
    results.length,
    before.size > 0 ? ROW_WITH_PREVIOUS : ROW,
    width,
    Math.max(highest, 1.2),
  );
  const drawing = svg`
    ${rowAxis(chart, (value) => `${value}×`)}
    ${results.map((result, row) => {
      const { algorithm } = result;
      const className = algorithm === 'none' ? 'is-plain' : algorithm === fastest ? 'is-fastest' : '';
      const text = {
        name: algorithmNames[algorithm],
        figure: times(result.speedup),
        hint: describe(result),
        className,
      };
      return chartRow(chart, row, text, bars(chart, result, before.get(algorithm)));
    })}
    <line class="baseline" x1=${chart.x(1)} x2=${chart.x(1)} y1="0" y2=${results.length * chart.rowHeight} />
  `;
  return chartFrame({
    title: 'Speed-up of decoding',
    caption:
      before.size > 0
        ? 'How many times as fast as plain decoding, with the 95 % interval; the outlined bar below is the earlier run.'
        : 'How many times as fast as plain decoding. The thin line is the 95 % interval.',
    label: `Bar chart. ${results.map(describe).join('; ')}.`,
    width,
    height: chart.height,
    drawing,
    table: table(results, before),
  });
}

function bars(
  chart: RowChart,
  result: AlgorithmResult,
  previous: AlgorithmResult | undefined,
): TemplateResult {
  if (!previous) return bar(chart, result, 0, 16, '');
  return svg`${bar(chart, result, -9, 14, '')}${bar(chart, previous, 9, 10, 'is-previous')}`;
}

function bar(
  { x }: RowChart,
  result: AlgorithmResult,
  y: number,
  height: number,
  className: string,
): TemplateResult {
  const { speedup, speedup_ci, algorithm } = result;
  const [low, high] = speedup_ci.map(x);
  const interval = svg`
    <path class="interval" d="M${low} ${y}H${high}M${low} ${y - CAP}v${2 * CAP}M${high} ${y - CAP}v${2 * CAP}" />
  `;
  return svg`
    <rect class="bar ${className}" x=${x(0)} y=${y - height / 2} width=${x(speedup) - x(0)} height=${height} rx="1.5" />
    ${algorithm === 'none' ? '' : interval}
  `;
}

function describe({ algorithm, speedup, speedup_ci: [low, high] }: AlgorithmResult): string {
  const interval = algorithm === 'none' ? '' : `, interval from ${times(low)} to ${times(high)}`;
  return `${algorithmNames[algorithm]} ${times(speedup)}${interval}`;
}

function table(
  results: readonly AlgorithmResult[],
  before: ReadonlyMap<Algorithm, AlgorithmResult>,
): Chart['table'] {
  const cells = ({ speedup, speedup_ci: [low, high] }: AlgorithmResult) => [
    times(speedup),
    times(low),
    times(high),
  ];
  const columns = ['Speed-up', 'from', 'to'];
  const hasPrevious = before.size > 0;
  return {
    columns: ['Algorithm', ...columns, ...(hasPrevious ? columns.map((column) => `Before: ${column}`) : [])],
    rows: results.map((result) => {
      const earlier = before.get(result.algorithm);
      const earlierCells = earlier ? cells(earlier) : ['', '', ''];
      return [algorithmNames[result.algorithm], ...cells(result), ...(hasPrevious ? earlierCells : [])];
    }),
  };
}
