import type { Language } from './languages.ts';

export type RejectionReason =
  | 'path'
  | 'size'
  | 'binary'
  | 'minified'
  | 'long line'
  | 'generated'
  | 'data'
  | 'not English'
  | 'transpiled';

const REJECTED_FOLDER =
  /(^|\/)(dist|umd|cjs|bundles?|min|vendor|vendored|third[-_]party|fixtures|testdata|locales?|i18n|langs?|node_modules|generated|__generated__|snapshots|__snapshots__|unicode|encodings|gen|autogen)\//i;
const REJECTED_NAME =
  /\.min\.|\.umd\.|\.bundle\.|[-.]bundled?\.|\.production\.|\.pb\.go$|_pb2\.py$|zz_generated|_generated\.|\.gen\.|messages\.|unicode|lextab|parsetab|amalgam|package-lock\.json$|(^|\/)LICEN[CS]E|CHANGELOG|CHANGES\.md|HISTORY\.md/i;

const GENERATED_MARK =
  /@generated|do not edit|auto-?generated|automatically generated|generated (by|from|automatically)|machine generated/i;

const TRANSPILED_MARK =
  /__createBinding|_interopRequire|__esModule|__awaiter\b|__decorate\b|__webpack_|_classCallCheck|tslib|"use strict";\n?var __/;

interface Limits {
  readonly maxBytes: number;
  readonly meanLineLength: readonly [number, number];
  readonly maxLineLength: number;
}

const CODE_LIMITS: Limits = { maxBytes: 100_000, meanLineLength: [8, 70], maxLineLength: 400 };
const LIMITS: Partial<Record<Language, Limits>> = {
  json: { maxBytes: 12_000, meanLineLength: [6, 70], maxLineLength: 300 },
  markdown: { maxBytes: 60_000, meanLineLength: [8, 250], maxLineLength: 2_000 },
  html: { maxBytes: 40_000, meanLineLength: [8, 90], maxLineLength: 500 },
};
const MIN_BYTES = 300;

function share(text: string, belongs: (unit: number) => boolean): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) if (belongs(text.charCodeAt(i))) count++;
  return count / text.length;
}

const isDigit = (unit: number) => unit >= 48 && unit <= 57;
const isForeign = (unit: number) => unit > 126;

/** Says why a file should not be learned from, by its text before any cleaning; undefined for one worth reading. */
export function rejectionReason(path: string, language: Language, text: string): RejectionReason | undefined {
  const limits = LIMITS[language] ?? CODE_LIMITS;
  if (REJECTED_FOLDER.test(path) || REJECTED_NAME.test(path)) return 'path';
  if (text.length < MIN_BYTES || text.length > limits.maxBytes) return 'size';
  if (text.includes('\u0000') || text.includes('\ufffd')) return 'binary';
  const lines = text.split('\n');
  const mean = text.length / lines.length;
  if (mean < limits.meanLineLength[0] || mean > limits.meanLineLength[1]) return 'minified';
  if (lines.some((line) => line.length > limits.maxLineLength)) return 'long line';
  if (GENERATED_MARK.test(text.slice(0, 2_000))) return 'generated';
  if (TRANSPILED_MARK.test(text.slice(0, 4_000))) return 'transpiled';
  if (share(text, isDigit) > 0.15) return 'data';
  if (share(text, isForeign) > 0.02) return 'not English';
  return undefined;
}
