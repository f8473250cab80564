import { type EditPoint, lineBefore } from './editPoint.ts';
import { endsLine } from './hole.ts';
import { indentationWidth, isBlank, linesBelow } from './lines.ts';

/**
 * How far a suggestion may go: the rest of the line; a block that the line before the cursor opens and that is
 * empty so far; or, on an empty line, the statements up to the end of the block they stand in.
 */
export type SuggestionShape = 'line' | 'openedBlock' | 'statements';

const opensBlock = /([{([]|=>|:|\b(?:then|do|else|begin|try|loop))\s*$/u;

export function suggestionShape(point: EditPoint, tabSize: number): SuggestionShape {
  const before = lineBefore(point);
  if (!endsLine(point)) return 'line';
  if (isBlank(before)) return 'statements';
  return opensBlock.test(before) && isEmptyBelow(point, before, tabSize) ? 'openedBlock' : 'line';
}

function isEmptyBelow(point: EditPoint, line: string, tabSize: number): boolean {
  const [next] = linesBelow(point, 1);
  return next === undefined || indentationWidth(next, tabSize) <= indentationWidth(line, tabSize);
}
