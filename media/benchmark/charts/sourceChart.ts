import { svg, type TemplateResult } from 'lit-html';
import type { AlgorithmResult } from '../../../engine/protocol.ts';
import { algorithmNames } from '../../../extension/algorithmNames.ts';
import { sourceNames } from '../../../extension/benchmark/reportNames.ts';
import { type Source, sourceClass, sourceLegend, sources } from '../sources.ts';
import { chartFrame } from './chartFrame.ts';
import { chartRow, type RowChart, rowAxis, rowChart } from './rows.ts';

const ROW = 34;
const BAR = 16;

/** The mean acceptance length, taken apart: what each source gave to a drafted step, and the target's own token. */
export function sourceChart(all: readonly AlgorithmResult[], width: number): TemplateResult {
  const results = all.filter(({ algorithm }) => algorithm !== 'none');
  const chart = rowChart(
    results.length,
    ROW,
    width,
    Math.max(2, ...results.map((result) => result.mean_acceptance_length)),
  );
  const shown = sources.filter((source) => results.some((result) => perStep(result, source) > 0));
  const drawing = svg`
    ${rowAxis(chart, String)}
    ${results.map((result, row) => {
      const text = {
        name: algorithmNames[result.algorithm],
        figure: result.mean_acceptance_length.toFixed(2),
        hint: describe(result),
        className: '',
      };
      return chartRow(chart, row, text, parts(chart, result, shown));
    })}
  `;
  return chartFrame({
    title: 'Tokens a drafted step',
    caption:
      'Mean acceptance length: what was accepted, by where it was drafted from, and the token that the model adds itself.',
    label: `Stacked bar chart. ${results.map(describe).join('; ')}.`,
    width,
    height: chart.height,
    drawing,
    legend: sourceLegend(shown, 'The model itself'),
    table: {
      columns: ['Algorithm', ...shown.map((source) => sourceNames[source]), 'The model itself', 'Sum'],
      rows: results.map((result) => [
        algorithmNames[result.algorithm],
        ...shown.map((source) => perStep(result, source).toFixed(2)),
        '1.00',
        result.mean_acceptance_length.toFixed(2),
      ]),
    },
  });
}

/** Accepted tokens of a source by drafted step. */
function perStep({ accepted_per_source, num_drafts }: AlgorithmResult, source: Source): number {
  return num_drafts === 0 ? 0 : (accepted_per_source[source] ?? 0) / num_drafts;
}

function parts({ x }: RowChart, result: AlgorithmResult, shown: readonly Source[]): TemplateResult {
  let end = 0;
  const part = (className: string, tokens: number) => {
    const start = end;
    end += tokens;
    return svg`
      <rect class="part ${className}" x=${x(start)} y=${-BAR / 2} width=${x(end) - x(start)} height=${BAR} />
    `;
  };
  return svg`
    ${part('source-target', 1)}
    ${shown.map((source) => part(sourceClass(source), perStep(result, source)))}
  `;
}

function describe(result: AlgorithmResult): string {
  const given = sources.filter((source) => perStep(result, source) > 0);
  const parts = given.map((source) => `${sourceNames[source]} ${perStep(result, source).toFixed(2)}`);
  return `${algorithmNames[result.algorithm]} ${result.mean_acceptance_length.toFixed(2)} tokens a drafted step${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`;
}
