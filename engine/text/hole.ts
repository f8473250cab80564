import { type EditPoint, lineAfter, writtenFrom } from './editPoint.ts';

/** Where a document is open: text before `prefixEnd`, text from `suffixStart` on. */
export interface Hole {
  readonly text: string;
  readonly prefixEnd: number;
  readonly suffixStart: number;
}

/** Brackets, quotes and separators that editors close on their own. */
const closersOnly = /^[\s)\]}>"'`;,]*$/u;

/** Whether nothing but closers stands right of the cursor: the line's end is still to be written. */
export const endsLine = (point: EditPoint) => closersOnly.test(lineAfter(point));

/**
 * The hole begins at the cursor, or before the indentation left of it. It ends at the cursor too, unless only closers
 * follow on the line: they belong to what is being typed, the editor put them there, so the hole reaches to the line's
 * end. The suffix then stays the same while brackets open and close, and with it the KV rows of a suffix-first prompt.
 */
export function holeOf(point: EditPoint, around?: { readonly before: string; readonly after: string }): Hole {
  const before = around?.before ?? '';
  const text = around === undefined ? point.text : before + point.text + around.after;
  return {
    text,
    prefixEnd: before.length + writtenFrom(point),
    suffixStart: before.length + (endsLine(point) ? point.lineEnd : point.offset),
  };
}
