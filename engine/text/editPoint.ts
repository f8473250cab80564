import type { Range } from '../protocol.ts';
import { characterBoundary } from './characterBoundary.ts';
import { withLineFeeds } from './withLineFeeds.ts';

/** The suggest widget's selected item, as the protocol carries it. */
export interface SelectedSuggestion {
  readonly range: Range;
  readonly text: string;
}

/**
 * The place a suggestion is for, in the document as the suggestion sees it: with the suggest widget's selected
 * item already in it. Offsets are UTF-16 units into `text`.
 */
export interface EditPoint {
  readonly text: string;
  readonly offset: number;
  /** Zero-based. */
  readonly line: number;
  readonly lineStart: number;
  /** Before the line break. */
  readonly lineEnd: number;
  readonly eol: '\n' | '\r\n';
  readonly selected?: AppliedSelection;
}

/** What the selected item replaced; both on the point's line, in the document as it really is. */
interface AppliedSelection {
  readonly text: string;
  readonly startCharacter: number;
  readonly endCharacter: number;
}

/**
 * @param offset of the cursor, UTF-16 units; inside a surrogate pair or CRLF it moves before it
 * @param line the cursor's line, zero-based
 */
export function editPointAt(
  text: string,
  offset: number,
  line: number,
  selected?: SelectedSuggestion,
): EditPoint {
  const cursor = characterBoundary(text, Math.max(0, Math.min(offset, text.length)));
  const lineStart = text.lastIndexOf('\n', cursor - 1) + 1;
  const point: EditPoint = {
    text,
    offset: cursor,
    line,
    lineStart: cursor === 0 ? 0 : lineStart,
    lineEnd: endOfLine(text, cursor),
    eol: lineBreakOf(text),
  };
  return selected === undefined ? point : withSelection(point, selected);
}

/** The line up to the cursor. */
export const lineBefore = (point: EditPoint) => point.text.slice(point.lineStart, point.offset);

/**
 * Where the model goes on: the indentation of a line that is blank so far is left to it, as Copilot does.
 * Vocabularies join the last space of an indentation to the word after it, so that no natural token follows typed
 * indentation. With the embedded model on 40 lines of this repository the first token is right 17 times rather than
 * once. A space inside a line is another matter: without it, the model goes on with the word before it.
 */
export const writtenFrom = (point: EditPoint) =>
  indentationOnly.test(lineBefore(point)) ? point.lineStart : point.offset;

/** Longer ones are not indentation. */
const indentationOnly = /^[ \t]{0,200}$/u;

/** The part of the cursor's line that the model goes on from; empty when the line is blank so far. */
export const lineGiven = (point: EditPoint) => point.text.slice(point.lineStart, writtenFrom(point));

/** More says nothing new about a place. */
const PLACE_CHARACTERS = 4096;

/** What the place is known by: the text before it, in line feeds, as models write. */
export function textBefore(point: EditPoint): string {
  const end = writtenFrom(point);
  return withLineFeeds(point.text.slice(Math.max(0, end - PLACE_CHARACTERS), end));
}

/** The line from the cursor on. */
export const lineAfter = (point: EditPoint) => point.text.slice(point.offset, point.lineEnd);

/** Ranges that do not hold the cursor's line are not for this place: they are ignored. */
function withSelection(point: EditPoint, selected: SelectedSuggestion): EditPoint {
  const { start, end } = selected.range;
  const length = point.lineEnd - point.lineStart;
  const fits =
    start.line === point.line &&
    end.line === point.line &&
    start.character <= end.character &&
    end.character <= length &&
    !/[\r\n]/.test(selected.text);
  if (!fits) return point;
  const before = point.text.slice(0, point.lineStart + start.character) + selected.text;
  const text = before + point.text.slice(point.lineStart + end.character);
  return {
    ...point,
    text,
    offset: before.length,
    lineEnd: point.lineEnd + text.length - point.text.length,
    selected: { text: selected.text, startCharacter: start.character, endCharacter: end.character },
  };
}

function endOfLine(text: string, from: number): number {
  const lineFeed = text.indexOf('\n', from);
  if (lineFeed === -1) return text.length;
  return text[lineFeed - 1] === '\r' && lineFeed > from ? lineFeed - 1 : lineFeed;
}

/** Editors keep one kind a document, so the first one tells. */
function lineBreakOf(text: string): '\n' | '\r\n' {
  const first = text.indexOf('\n');
  return first > 0 && text[first - 1] === '\r' ? '\r\n' : '\n';
}
