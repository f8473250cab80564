import { type EditPoint, lineBefore } from './editPoint.ts';
import { endsLine } from './hole.ts';
import { indentationWidth, isBlank, isCloser, linesBelow, nextLine } from './lines.ts';

/**
 * How far a suggestion may go: the rest of the line, or a whole line where the block goes on right below; a block that
 * the line before the cursor opens and that is empty so far; or, on an empty line at the end of what is written so far,
 * the statements up to the end of the block they stand in.
 */
export type SuggestionShape = 'line' | 'wholeLine' | 'openedBlock' | 'statements';

const opensBlock = /([{([]|=>|:|\b(?:then|do|else|begin|try|loop))\s*$/u;

export function suggestionShape(point: EditPoint, tabSize: number): SuggestionShape {
  const before = lineBefore(point);
  if (!endsLine(point)) return 'line';
  if (isBlank(before)) return isInsideBlock(point, before, tabSize) ? 'wholeLine' : 'statements';
  return opensBlock.test(before) && isEmptyBelow(point, before, tabSize) ? 'openedBlock' : 'line';
}

/**
 * The block goes on right below: a line is missing here, not many. Of what the embedded model wrote at such places in
 * the held-out packages, one line was closer to the real one than several.
 */
function isInsideBlock(point: EditPoint, line: string, tabSize: number): boolean {
  const next = nextLine(point);
  if (isBlank(next) || isCloser(next)) return false;
  return indentationWidth(next, tabSize) >= indentationWidth(line, tabSize);
}

function isEmptyBelow(point: EditPoint, line: string, tabSize: number): boolean {
  const [next] = linesBelow(point, 1);
  return next === undefined || indentationWidth(next, tabSize) <= indentationWidth(line, tabSize);
}
