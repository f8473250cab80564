import { lineGiven } from '../editPoint.ts';
import { reindent } from '../lines.ts';
import type { Filter } from './filter.ts';

/** Writes the white space at the start of lines as the editor does: tabs or spaces. */
export const indentLikeEditor: Filter = (text, { point, indentation }) => {
  const startsLine = lineGiven(point) === '';
  return text
    .split('\n')
    .map((line, i) => (i > 0 || startsLine ? reindent(line, indentation, 0) : line))
    .join('\n');
};
