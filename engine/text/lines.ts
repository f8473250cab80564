import type { Indentation } from '../protocol.ts';
import type { EditPoint } from './editPoint.ts';

export const isBlank = (text: string) => /^\s*$/u.test(text);

/** Nothing but closing brackets and separators: `}`, `});`, `],`. */
export const isCloser = (line: string) => /^\s*[)\]}]+[;,]?\s*$/u.test(line);

const leadingSpace = (line: string) => /^[ \t]*/u.exec(line)![0];

/** Columns that the white space at the line's start takes. */
export function indentationWidth(line: string, tabSize: number): number {
  let width = 0;
  for (const char of leadingSpace(line)) width += char === '\t' ? tabSize - (width % tabSize) : 1;
  return width;
}

/** The line with its indentation written as the editor does, moved right by `columns`, or left when negative. */
export function reindent(line: string, { insertSpaces, tabSize }: Indentation, columns: number): string {
  const width = Math.max(0, indentationWidth(line, tabSize) + columns);
  const indentation = insertSpaces
    ? ' '.repeat(width)
    : '\t'.repeat(Math.floor(width / tabSize)) + ' '.repeat(width % tabSize);
  return indentation + line.slice(leadingSpace(line).length);
}

/** As far below the cursor as anything looks, UTF-16 units. */
const lookAhead = 2000;

/** The line right below the cursor's, blank or not, as far as anything looks. */
export function nextLine(point: EditPoint): string {
  const below = point.text.slice(point.lineEnd, point.lineEnd + lookAhead);
  return /^\r?\n(.*)/u.exec(below)?.[1] ?? '';
}

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
