import { alignedRows } from '../alignedRows.ts';
import type { EvalReport, EvalResult, Interval } from './evalReport.ts';

const header = ['language', 'kind', 'n', 'shown', 'exact match', 'edit similarity', 'first line', 'parses'];

/** A report as a table for people, with what its numbers hold for. */
export function evalText({ folder, context, seed, model, results }: EvalReport): string {
  const rows = [header, ...results.filter((result) => !isRepeated(result, results)).map(cells)];
  return [
    ...alignedRows(rows, 2),
    '',
    `${folder}, seed ${seed}, ${context ? 'with' : 'without'} workspace context; ${model.name}, ${model.precision}, ${model.device}.`,
    'In %, with 95 % bootstrap intervals. parses: of the suggestions shown. docs/eval.md says what counts.',
  ].join('\n');
}

/** One language alone has the numbers of all. */
function isRepeated({ language }: EvalResult, results: readonly EvalResult[]): boolean {
  const languages = new Set(results.map((result) => result.language));
  return languages.size === 2 && language === 'all';
}

function cells(result: EvalResult): string[] {
  return [
    result.language,
    result.kind,
    String(result.n),
    percent(result.shown),
    withInterval(result.exact_match, result.exact_match_ci),
    withInterval(result.edit_similarity, result.edit_similarity_ci),
    withInterval(result.first_line_match, result.first_line_match_ci),
    result.parse_rate === null ? '-' : withInterval(result.parse_rate, result.parse_rate_ci!),
  ];
}

const percent = (share: number) => (100 * share).toFixed(1);
const withInterval = (share: number, [low, high]: Interval) =>
  `${percent(share)} [${percent(low)}, ${percent(high)}]`;
