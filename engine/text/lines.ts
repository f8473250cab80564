import type { EditPoint } from './editPoint.ts';

export const isBlank = (text: string) => /^\s*$/u.test(text);

/** Nothing but closing brackets and separators: `}`, `});`, `],`. */
export const isCloser = (line: string) => /^\s*[)\]}]+[;,]?\s*$/u.test(line);

export const indentationOf = (line: string) => /^[ \t]*/u.exec(line)![0];

/** Columns that the white space at the line's start takes. */
export function indentationWidth(line: string, tabSize: number): number {
  let width = 0;
  for (const char of indentationOf(line)) width += char === '\t' ? tabSize - (width % tabSize) : 1;
  return width;
}

/** As far below the cursor as anything looks, UTF-16 units. */
const lookAhead = 2000;

/** The next `limit` lines below the cursor's that are not blank, without white space at their ends. */
export function linesBelow(point: EditPoint, limit: number): readonly string[] {
  const below = point.text
    .slice(point.lineEnd, point.lineEnd + lookAhead)
    .split(/\r?\n/u)
    .slice(1);
  const cutShort = point.lineEnd + lookAhead < point.text.length;
  const whole = cutShort ? below.slice(0, -1) : below;
  return whole
    .filter((line) => !isBlank(line))
    .slice(0, limit)
    .map((line) => line.trimEnd());
}
