import { lineBefore } from '../editPoint.ts';
import { isBlank } from '../lines.ts';
import type { Filter } from './filter.ts';

/** The space between two words is typed already: `x = │` goes on with `1`, not with ` 1`. */
export const joinSpacing: Filter = (text, { point }) => {
  const before = lineBefore(point);
  return /[ \t]$/u.test(before) && !isBlank(before) ? text.replace(/^[ \t]+/u, '') : text;
};
