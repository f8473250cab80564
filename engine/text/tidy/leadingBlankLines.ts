import { lineGiven } from '../editPoint.ts';
import type { Filter } from './filter.ts';

/** On an empty line, another empty line first is not what the user went there for. */
export const dropLeadingBlankLines: Filter = (text, { point }) =>
  lineGiven(point) === '' ? text.replace(/^(?:[ \t]*\n)+/u, '') : text;
