import { lineBefore } from '../editPoint.ts';
import { indentationOf, indentationWidth } from '../lines.ts';
import type { Filter, Indentation } from './filter.ts';

/** Writes the white space at the start of lines as the editor does: tabs or spaces. */
export const indentLikeEditor: Filter = (text, { point, indentation }) => {
  const startsLine = lineBefore(point) === '';
  return text
    .split('\n')
    .map((line, i) => (i > 0 || startsLine ? reindent(line, indentation) : line))
    .join('\n');
};

function reindent(line: string, { insertSpaces, tabSize }: Indentation): string {
  const old = indentationOf(line);
  const width = indentationWidth(line, tabSize);
  const indent = insertSpaces
    ? ' '.repeat(width)
    : '\t'.repeat(Math.floor(width / tabSize)) + ' '.repeat(width % tabSize);
  return indent + line.slice(old.length);
}
