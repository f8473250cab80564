import { endsLine } from '../hole.ts';
import type { Filter } from './filter.ts';

/** White space at the end shows nothing; only before more text of the line it may mean something. */
export const trimTrailingSpace: Filter = (text, { point }) =>
  endsLine(point) ? text.trimEnd() : text.replace(/\s*\n\s*$/u, '');
