/**
 * What `slipstream eval` found: the JSON document that it writes. Its names are those of the file, its version
 * changes with its meaning. docs/eval.md explains each field.
 */
import type { Machine } from '../machine.ts';
import type { Language } from '../syntax/language.ts';
import type { MaskKind } from './evalTask.ts';

export interface EvalReport {
  readonly schema_version: 1;
  /** ISO 8601. */
  readonly created: string;
  readonly seed: number;
  readonly folder: string;
  /** Whether the workspace's files gave context. */
  readonly context: boolean;
  readonly machine: EvalMachine;
  readonly model: EvalModel;
  /** All tasks first, then by kind, by language, and by both. */
  readonly results: readonly EvalResult[];
  /** What `results` sums up. */
  readonly tasks: readonly EvalTaskResult[];
}

export interface EvalMachine extends Pick<Machine, 'cpu' | 'cores' | 'platform' | 'node'> {
  readonly memory_bytes: number;
}

export interface EvalModel {
  readonly name: string;
  readonly precision: string;
  readonly device: string;
}

/** `single_line`: every kind but `block`. */
export type ResultKind = MaskKind | 'single_line' | 'all';
/** 95 %, percentile bootstrap over tasks. */
export type Interval = readonly [low: number, high: number];

/** Each measure is a mean from 0 to 1 over `n` tasks. */
export interface EvalResult {
  readonly language: Language | 'all';
  readonly kind: ResultKind;
  readonly n: number;
  /** Share of the tasks with a suggestion. Those without count as no match. */
  readonly shown: number;
  readonly exact_match: number;
  readonly exact_match_ci: Interval;
  readonly edit_similarity: number;
  readonly edit_similarity_ci: Interval;
  readonly first_line_match: number;
  readonly first_line_match_ci: Interval;
  /** Of the suggestions shown; null when there is none. */
  readonly parse_rate: number | null;
  readonly parse_rate_ci: Interval | null;
}

export interface EvalTaskResult {
  /** In the folder, with forward slashes. */
  readonly path: string;
  /** Of the cursor, from 1. */
  readonly line: number;
  /** Of the cursor, from 1, in UTF-16 code units. */
  readonly column: number;
  readonly language: Language;
  readonly kind: MaskKind;
  /** What really stands there, with as much of the text after it as the suggestion replaces. */
  readonly real_text: string;
  /** Null when nothing was suggested. */
  readonly suggestion: string | null;
  readonly exact_match: boolean;
  readonly edit_similarity: number;
  readonly first_line_match: boolean;
  readonly parses: boolean | null;
}
