import { alignedRows } from '../alignedRows.ts';
import type { Estimate } from '../benchmark/statistics.ts';

/** What a figure has to reach. */
export type Target = { readonly atLeast: number } | { readonly atMost: number };

/** One measured number, with what it is compared with. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly measured: number | Estimate;
  /** The same work done in the way it is compared with, measured in the same run. */
  readonly baseline?: { readonly name: string; readonly measured: number };
  readonly target?: Target;
  /** What explains it, in a few words. */
  readonly remark?: string;
}

/** What one part of the benchmark found. */
export interface Section {
  readonly title: string;
  readonly figures: readonly Figure[];
  /** What one has to know to read the figures. */
  readonly notes: readonly string[];
  /** Wrong results, not slow ones: the benchmark fails with them. */
  readonly faults: readonly string[];
  /** Everything that was measured, for the JSON report. */
  readonly details: unknown;
}

export function meetsTarget({ measured, target }: Figure): boolean | undefined {
  if (target === undefined) return undefined;
  const value = estimated(measured);
  return 'atLeast' in target ? value >= target.atLeast : value <= target.atMost;
}

/** A section as text for a terminal. */
export function sectionText({ title, figures, notes, faults }: Section): string {
  const rows = figures.map((figure) => [
    figure.name,
    `${measuredText(figure.measured)} ${figure.unit}`.trimEnd(),
    figure.baseline ? `${figure.baseline.name} ${rounded(figure.baseline.measured)}` : '',
    figure.remark ?? '',
    figure.target ? `${targetText(figure.target)}: ${meetsTarget(figure) ? 'reached' : 'MISSED'}` : '',
  ]);
  return [
    title,
    ...alignedRows(rows, Number.POSITIVE_INFINITY).map((row) => `  ${row}`),
    ...notes.map((note) => `  ${note}`),
    ...faults.map((fault) => `  ERROR ${fault}`),
    '',
  ].join('\n');
}

const estimated = (measured: number | Estimate) => (typeof measured === 'number' ? measured : measured.value);

function measuredText(measured: number | Estimate): string {
  return typeof measured === 'number' ? rounded(measured) : estimateText(measured);
}

export function estimateText({ value, low, high }: Estimate): string {
  return `${rounded(value)} [${rounded(low)}, ${rounded(high)}]`;
}

function targetText(target: Target): string {
  return 'atLeast' in target ? `at least ${rounded(target.atLeast)}` : `at most ${rounded(target.atMost)}`;
}

/** Three digits say all that a measured time is worth. */
function rounded(value: number): string {
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
}
