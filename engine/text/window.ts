import { characterBoundary } from './characterBoundary.ts';

/** Tokens of a piece of the document. */
export type CountTokens = (text: string) => number;

/** Lines up to this long are kept or dropped whole where possible, UTF-16 units; generated files have lines of megabytes. */
const longestWholeLine = 1000;
/** What is taken of a line that is not taken whole comes in parts of this many units. */
const partOfLine = 32;
/**
 * A line that does not fit is taken in part unless whole lines fill this share of the budget: next to the cursor
 * nothing says more than its own line, however long that is.
 */
const filled = 1 / 2;

/** A way to walk through a document: where the piece ends that begins at `from`; `from` itself at the document's end. */
type Step = (text: string, from: number) => number;

/**
 * The earliest line start from which the text up to `end` takes at most `maxTokens`, or a place within a line that
 * would leave most of them unused. Reads backwards from `end` and no further than the budget reaches, whatever the
 * document's size.
 */
export function windowStart(text: string, end: number, maxTokens: number, count: CountTokens): number {
  return reach(text, end, maxTokens, count, lineBackwards, partBackwards);
}

/** The last line end, or place within a line, up to which the text from `start` takes at most `maxTokens`. */
export function windowEnd(text: string, start: number, maxTokens: number, count: CountTokens): number {
  return reach(text, start, maxTokens, count, lineForwards, partForwards);
}

function reach(
  text: string,
  from: number,
  maxTokens: number,
  count: CountTokens,
  line: Step,
  part: Step,
): number {
  const lines = walk(text, from, maxTokens, count, line);
  if (lines.tokens >= maxTokens * filled) return lines.at;
  return walk(text, lines.at, maxTokens - lines.tokens, count, part).at;
}

function walk(text: string, from: number, maxTokens: number, count: CountTokens, step: Step) {
  let at = from;
  let tokens = 0;
  for (;;) {
    const next = step(text, at);
    if (next === at) return { at, tokens };
    const more = count(text.slice(Math.min(at, next), Math.max(at, next)));
    if (tokens + more > maxTokens) return { at, tokens };
    at = next;
    tokens += more;
  }
}

function lineBackwards(text: string, end: number): number {
  const from = Math.max(0, end - longestWholeLine);
  const lineFeed = text.slice(from, Math.max(0, end - 1)).lastIndexOf('\n');
  if (lineFeed !== -1) return from + lineFeed + 1;
  return from === 0 ? 0 : partBackwards(text, end);
}

function lineForwards(text: string, start: number): number {
  const lineFeed = text.slice(start, start + longestWholeLine).indexOf('\n');
  if (lineFeed !== -1) return start + lineFeed + 1;
  return start + longestWholeLine >= text.length ? text.length : partForwards(text, start);
}

const partBackwards: Step = (text, end) => characterBoundary(text, Math.max(0, end - partOfLine));
const partForwards: Step = (text, start) =>
  characterBoundary(text, Math.min(text.length, start + partOfLine));
