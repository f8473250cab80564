/** Tokens of a piece of the document. */
export type CountTokens = (text: string) => number;

/** Lines up to this long are kept or dropped whole, UTF-16 units; generated files have lines of megabytes. */
const longestWholeLine = 1000;
/** Longer lines are taken in parts of this many units. */
const partOfLongLine = 32;

/**
 * The earliest line start from which the text up to `end` takes at most `maxTokens`. Reads backwards from `end`
 * and no further than the budget reaches, whatever the document's size.
 */
export function windowStart(text: string, end: number, maxTokens: number, count: CountTokens): number {
  let tokens = 0;
  let start = end;
  while (start > 0) {
    const next = segmentStart(text, start);
    tokens += count(text.slice(next, start));
    if (tokens > maxTokens) break;
    start = next;
  }
  return start;
}

/** The last line end up to which the text from `start` takes at most `maxTokens`; reads no further. */
export function windowEnd(text: string, start: number, maxTokens: number, count: CountTokens): number {
  let tokens = 0;
  let end = start;
  while (end < text.length) {
    const next = segmentEnd(text, end);
    tokens += count(text.slice(end, next));
    if (tokens > maxTokens) break;
    end = next;
  }
  return end;
}

function segmentStart(text: string, end: number): number {
  const from = Math.max(0, end - longestWholeLine);
  const lineFeed = text.slice(from, end - 1).lastIndexOf('\n');
  if (lineFeed !== -1) return from + lineFeed + 1;
  return from === 0 ? 0 : beforePair(text, end - partOfLongLine);
}

function segmentEnd(text: string, start: number): number {
  const lineFeed = text.slice(start, start + longestWholeLine).indexOf('\n');
  if (lineFeed !== -1) return start + lineFeed + 1;
  if (start + longestWholeLine >= text.length) return text.length;
  return beforePair(text, start + partOfLongLine);
}

const beforePair = (text: string, offset: number) =>
  /[\uDC00-\uDFFF]/.test(text[offset]) && offset > 1 ? offset - 1 : offset;
