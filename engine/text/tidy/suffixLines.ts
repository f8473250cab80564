import { lineAfter, lineGiven } from '../editPoint.ts';
import { isBlank, isCloser, linesBelow } from '../lines.ts';
import type { Filter } from './filter.ts';

const linesCompared = 12;

/** Drops the lines at the text's end that stand below the cursor already. */
export const cutSuffixLines: Filter = (text, { point }) => {
  const below = linesBelow(point, linesCompared);
  const lines = text.split('\n');
  const wholeLines = [lineGiven(point) + lines[0], ...lines.slice(1)];
  // The first line is new where something was typed before it or stands after it.
  const first = lineGiven(point) === '' && isBlank(lineAfter(point)) ? 0 : 1;
  for (let i = first; i < lines.length; i++) {
    if (!isBlank(wholeLines[i]) && standsBelow(wholeLines.slice(i), below))
      return lines.slice(0, i).join('\n');
  }
  return text;
};

function standsBelow(lines: readonly string[], below: readonly string[]): boolean {
  const written = lines.filter((line) => !isBlank(line)).map((line) => line.trimEnd());
  if (written.length > below.length) return false;
  return written.every((line, i) => isSame(line, below[i], i === written.length - 1));
}

/** The last line may have been cut off. A closing bracket closes the block that its indentation says. */
function isSame(line: string, below: string, isLast: boolean): boolean {
  if (isCloser(line)) return line === below;
  return line.trimStart() === below.trimStart() || (isLast && isLongStart(line.trim(), below.trim()));
}

const isLongStart = (line: string, below: string) => line.length >= 8 && below.startsWith(line);
