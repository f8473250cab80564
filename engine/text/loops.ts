import { isBlank, isCloser } from './lines.ts';

/**
 * Greedy decoding of a small model gets caught in loops. One definition of them: whoever stops the model stops it
 * where whoever tidies its text would cut.
 */

const longestPeriod = 6; // lines
const copies = 3;

/** Where the first copy ends of lines that come three times in a row; of several loops, of the one complete first. */
export function repeatedLines(text: string): number | undefined {
  const lines = text.split('\n');
  for (let end = copies; end <= lines.length; end++) {
    for (let period = 1; period * copies <= end && period <= longestPeriod; period++) {
      const start = end - period * copies;
      if (repeats(lines, start, period)) return lines.slice(0, start + period).join('\n').length;
    }
  }
  return undefined;
}

function repeats(lines: readonly string[], start: number, period: number): boolean {
  const end = start + period * copies;
  for (let i = start + period; i < end; i++) if (lines[i] !== lines[i - period]) return false;
  return lines.slice(start, start + period).some((line) => !isBlank(line) && !isCloser(line));
}

/** Loops at the line's end: three copies of a phrase, or eight of a few characters. Tables of numbers are none. */
const loops = [/(\S.{5,80}?)\1{2,}.{0,80}$/u, /(\S.{1,4}?)\1{7,}.{0,5}$/u];

/** Three copies of the longest phrase and what may follow them fit many times, UTF-16 units. */
const looksBack = 1000;

/** Where the first copy ends of words that are repeated at the end of the last line. */
export function repeatedWords(text: string): number | undefined {
  const start = Math.max(text.lastIndexOf('\n') + 1, text.length - looksBack);
  const end = text.slice(start);
  for (const pattern of loops) {
    const loop = pattern.exec(end);
    if (loop !== null && isPhrase(loop[1])) return start + loop.index + loop[1].length;
  }
  return undefined;
}

/** `====` and `0, 0, ` repeat on purpose. */
const isPhrase = (unit: string) => new Set(unit).size > 1 && !/^[\d\s,.;x]+$/u.test(unit);

/** Whether a text under way is caught in a loop: its last line is no copy before it is complete. */
export function isLooping(text: string): boolean {
  const lineStart = text.lastIndexOf('\n');
  return (
    (lineStart !== -1 && repeatedLines(text.slice(0, lineStart)) !== undefined) ||
    repeatedWords(text) !== undefined
  );
}
