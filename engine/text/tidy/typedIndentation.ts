import { lineBefore, lineGiven } from '../editPoint.ts';
import { indentationWidth, isBlank, reindent } from '../lines.ts';
import type { Filter } from './filter.ts';

/**
 * The model wrote the cursor's line from its start: takes off the indentation that is typed already. Where it
 * wrote less than that, all lines move right, for the user's choice counts.
 */
export const dropTypedIndentation: Filter = (text, { point, indentation }) => {
  const typed = lineBefore(point);
  if (typed === '' || lineGiven(point) !== '') return text;
  const [first, ...others] = text.split('\n');
  const typedWidth = indentationWidth(typed, indentation.tabSize);
  const missing = typedWidth - indentationWidth(first, indentation.tabSize);
  const moved =
    missing > 0 && !isBlank(first)
      ? others.map((line) => (isBlank(line) ? line : reindent(line, indentation, missing)))
      : others;
  return [reindent(first, indentation, -typedWidth), ...moved].join('\n');
};
