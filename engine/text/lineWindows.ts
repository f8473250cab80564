import { isBlank } from './lines.ts';

/** Whole lines of a text. */
export interface LineWindow {
  /** Zero-based. */
  readonly firstLine: number;
  /** In line feeds, without white space at its end. */
  readonly text: string;
}

/** Only so much of a document is looked at. */
const maxLines = 4000;
const charactersALine = 60;
/** Lines longer than people write are data. */
const longestLine = 400;

/**
 * Cuts a text into windows of `size` lines that overlap by about a half, so that no function falls between two of
 * them. A window begins with a paragraph where one begins in its first half: with the function, not before it.
 */
export function cutWindows(text: string, size: number): LineWindow[] {
  const lines = text.slice(0, maxLines * charactersALine).split(/\r?\n/u, maxLines);
  const kept = lines.map((line) => (line.length > longestLine ? '' : line));
  const step = Math.max(1, Math.floor(size / 2));
  const windows: LineWindow[] = [];
  for (let from = 0; from < kept.length; from += step) {
    const firstLine = paragraphStart(kept, from, from + step);
    const end = firstLine + size;
    windows.push({ firstLine, text: kept.slice(firstLine, end).join('\n').trimEnd() });
    if (end >= kept.length) break;
  }
  return windows;
}

function paragraphStart(lines: readonly string[], from: number, end: number): number {
  for (let i = from; i < end && i < lines.length; i++) {
    if (!isBlank(lines[i]) && (i === 0 || isBlank(lines[i - 1]))) return i;
  }
  return from;
}
