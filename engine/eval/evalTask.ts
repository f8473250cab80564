import type { Language } from '../syntax/language.ts';

/**
 * What is held out. `line_rest`: a line from somewhere inside it to its end. `line`: a line but for its indentation.
 * `block`: the statements of a block. `arguments`: what stands between the parentheses of a call, on one line.
 */
export const maskKinds = ['line_rest', 'line', 'block', 'arguments'] as const;
export type MaskKind = (typeof maskKinds)[number];

/** A place in real code with a span held out; the cursor is where it began. */
export interface EvalTask {
  /** Relative to the folder, with forward slashes. */
  readonly path: string;
  readonly language: Language;
  readonly kind: MaskKind;
  readonly before: string;
  /** What really stands there; never empty. */
  readonly truth: string;
  readonly after: string;
}
