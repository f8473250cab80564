import type { Span } from '../../syntax/syntaxTree.ts';
import type { TaskClass } from '../benchmarkReport.ts';

/** A file that tasks are taken from and that the index holds. */
export interface BenchmarkDocument {
  readonly uri: string;
  /** As people read it: in its folder, with forward slashes. */
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

export function takeOut(text: string, { start, end }: Span): Hole {
  return { before: text.slice(0, start), realText: text.slice(start, end), after: text.slice(end) };
}
