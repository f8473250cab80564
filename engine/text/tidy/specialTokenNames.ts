import type { Filter } from './filter.ts';

/**
 * Cuts the text where a control token is spelled out in letters: some models do that instead of stopping. A
 * document about such tokens may go on with them.
 */
export const cutAtSpecialTokenNames: Filter = (text, { point, specialTokenNames }) => {
  let end = text.length;
  for (const name of specialTokenNames) {
    const at = text.indexOf(name);
    if (at !== -1 && at < end && !point.text.includes(name)) end = at;
  }
  return text.slice(0, end);
};
