import type { TaskClass } from '../benchmarkReport.ts';

/** A file that tasks are taken from and that the index holds. */
export interface BenchmarkDocument {
  /** In its folder, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** A document with a part of it taken out; the cursor stands where the part began. */
export interface Hole {
  readonly before: string;
  /** What was taken out. */
  readonly realText: string;
  readonly after: string;
}

/** A real place to complete. */
export interface BenchmarkTask extends Hole {
  readonly taskClass: TaskClass;
  readonly document: BenchmarkDocument;
}

/** Offsets [start, end) of the text to take out. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** One kind of place: where a text has it, and what it looks like to somebody who has not written it yet. */
export interface TaskKind {
  find(text: string): Span[];
  /** Undefined where the span turns out not to be such a place. */
  cut(text: string, span: Span): Hole | undefined;
}

export function takeOut(text: string, { start, end }: Span): Hole {
  return { before: text.slice(0, start), realText: text.slice(start, end), after: text.slice(end) };
}
