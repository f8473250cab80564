import type { ContextPiece } from './snippets.ts';

/** UTF-16 units around the part that a prompt shows: reading more takes longer than a keystroke leaves. */
const READ_ABOVE = 18_000;
const READ_BELOW = 9_000;

/** The part of a document that the prompt's prefix and suffix are, in UTF-16 offsets. */
export interface ShownPart {
  readonly start: number;
  readonly end: number;
}

/**
 * What a prompt does not show of its own document: a function like the one being written often stands in the same
 * file, and where prompts are short it is out of sight there.
 */
export function restOfDocument(text: string, shown: ShownPart, path: string): readonly ContextPiece[] {
  const above = text.slice(firstLineAbove(text, shown.start), shown.start);
  const below = text.slice(shown.end, shown.end + READ_BELOW);
  // Other files go by their addresses. Lines are counted in each piece: it is all that tells its windows apart.
  return [
    { uri: 'above', path, firstLine: 0, text: above },
    { uri: 'below', path, firstLine: 0, text: below },
  ];
}

function firstLineAbove(text: string, end: number): number {
  const from = end - READ_ABOVE;
  if (from <= 0) return 0;
  const lineFeed = text.indexOf('\n', from);
  return lineFeed === -1 || lineFeed >= end ? end : lineFeed + 1;
}
