import { isBlank, isCloser } from '../lines.ts';
import type { Filter } from './filter.ts';

const longestPeriod = 6; // lines
const copies = 3;

/** Greedy decoding of a small model gets caught in loops: what came three times in a row is kept once. */
export const cutRepetition: Filter = (text) => cutRepeatedWords(cutRepeatedLines(text));

function cutRepeatedLines(text: string): string {
  const lines = text.split('\n');
  for (let start = 0; start < lines.length; start++) {
    for (let period = 1; period <= longestPeriod; period++) {
      if (repeats(lines, start, period)) return lines.slice(0, start + period).join('\n');
    }
  }
  return text;
}

function repeats(lines: readonly string[], start: number, period: number): boolean {
  const end = start + period * copies;
  if (end > lines.length) return false;
  for (let i = start + period; i < end; i++) if (lines[i] !== lines[i - period]) return false;
  return lines.slice(start, start + period).some((line) => !isBlank(line) && !isCloser(line));
}

/** Loops at the line's end: three copies of a phrase, or eight of a few characters. Tables of numbers are none. */
const loops = [/(\S.{5,80}?)\1{2,}.{0,80}$/u, /(\S.{1,4}?)\1{7,}.{0,5}$/u];

function cutRepeatedWords(text: string): string {
  const lineStart = text.lastIndexOf('\n') + 1;
  const line = text.slice(lineStart, lineStart + 1000);
  for (const pattern of loops) {
    const loop = pattern.exec(line);
    if (loop !== null && isPhrase(loop[1])) return text.slice(0, lineStart + loop.index + loop[1].length);
  }
  return text;
}

/** `====` and `0, 0, ` repeat on purpose. */
const isPhrase = (unit: string) => new Set(unit).size > 1 && !/^[\d\s,.;x]+$/u.test(unit);
