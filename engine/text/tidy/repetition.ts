import { repeatedLines, repeatedWords } from '../loops.ts';
import type { Filter } from './filter.ts';

/** What came three times in a row is kept once. */
export const cutRepetition: Filter = (text) => {
  const lines = text.slice(0, repeatedLines(text));
  return lines.slice(0, repeatedWords(lines));
};
