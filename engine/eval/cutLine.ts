import type { Random } from '../seededRandom.ts';
import type { Span } from '../syntax/syntaxTree.ts';

/** From anywhere after the line's first character on; what is held out still has a letter or a digit. */
export function cutLine(text: string, { start, end }: Span, random: Random): Span {
  const line = text.slice(start, end);
  const lastTelling = line.search(/[\p{L}\p{N}][^\p{L}\p{N}]*$/u);
  const cut = 1 + Math.floor(random() * lastTelling);
  const splitsPair = /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(line.slice(cut - 1, cut + 1));
  return { start: start + cut + (splitsPair ? 1 : 0), end };
}
