import { codeLines } from './codeLines.ts';
import { renameHalfway } from './renameHalfway.ts';
import type { TaskKind } from './task.ts';

/** About 40 tokens of code: the lines to be written again. */
const LEAST_CHARACTERS = 140;

/** A name was changed everywhere above the cursor; the lines at the cursor are to be written again with the new one. */
export const repetitiveEdit: TaskKind = {
  find(text) {
    return codeLines(text)
      .filter(({ indentation, isComment }) => indentation >= 0 && !isComment)
      .map(({ start, indentation }) => start + indentation)
      .filter((start) => start + LEAST_CHARACTERS < text.length)
      .map((start) => ({ start, end: lineEnd(text, start + LEAST_CHARACTERS) }));
  },
  cut: renameHalfway,
};

function lineEnd(text: string, from: number): number {
  const at = text.slice(from).search(/\r?\n/u);
  return at < 0 ? text.length : from + at;
}
