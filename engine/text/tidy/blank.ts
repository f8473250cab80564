import { isBlank } from '../lines.ts';
import type { Filter } from './filter.ts';

/** Nobody sees white space alone. */
export const dropBlank: Filter = (text) => (isBlank(text) ? '' : text);
