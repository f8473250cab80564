import type { Random } from '../random.ts';

/** The part of a file to be filled in, in UTF-16 offsets: `[start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where somebody stops to think while typing. */
type CursorKind = 'inside line' | 'after bracket' | 'new line' | 'block body' | 'anywhere';
type EndKind = 'line' | 'lines' | 'block' | 'bracket';

const CURSOR_WEIGHTS: readonly (readonly [CursorKind, number])[] = [
  ['inside line', 0.38],
  ['after bracket', 0.14],
  ['new line', 0.25],
  ['block body', 0.18],
  ['anywhere', 0.05],
];

const END_WEIGHTS: Readonly<Record<CursorKind, readonly (readonly [EndKind, number])[]>> = {
  'inside line': [
    ['line', 0.7],
    ['lines', 0.15],
    ['block', 0.15],
  ],
  'after bracket': [
    ['bracket', 0.5],
    ['line', 0.4],
    ['block', 0.1],
  ],
  'new line': [
    ['line', 0.35],
    ['lines', 0.3],
    ['block', 0.35],
  ],
  'block body': [
    ['block', 0.8],
    ['lines', 0.2],
  ],
  anywhere: [
    ['line', 0.5],
    ['lines', 0.5],
  ],
};

const MAX_MIDDLE_LINES = 20;
const MAX_MIDDLE_CHARACTERS = 900;

function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

function indentationAt(text: string, start: number): number {
  let end = start;
  while (text[end] === ' ' || text[end] === '\t') end++;
  return end - start;
}

function isBlank(text: string, start: number): boolean {
  return text.slice(start, lineEnd(text, start)).trim() === '';
}

/** A line with text on it, at random; undefined in a blank file. */
function pickLine(text: string, random: Random): number | undefined {
  for (let attempt = 0; attempt < 20; attempt++) {
    const start = lineStart(text, random.integer(text.length));
    if (!isBlank(text, start)) return start;
  }
  return undefined;
}

/** After some of the line's characters: half of the time inside a word, else after a sign or a blank. */
function insideLine(text: string, start: number, random: Random): number {
  const first = start + indentationAt(text, start);
  const end = lineEnd(text, start);
  const cursor = first + 1 + random.integer(Math.max(1, end - first));
  if (random.chance(0.5)) return Math.min(cursor, end);
  const boundary = /[^\p{L}\p{N}_$]/u;
  for (let offset = Math.min(cursor, end); offset > first; offset--)
    if (boundary.test(text[offset - 1]!)) return offset;
  return Math.min(cursor, end);
}

function afterBracket(text: string, start: number, random: Random): number | undefined {
  const line = text.slice(start, lineEnd(text, start));
  const brackets = [...line.matchAll(/[([{<,.=:]/g)];
  return brackets.length > 0 ? start + brackets[random.integer(brackets.length)]!.index + 1 : undefined;
}

/** The start of a block's body: after the indentation of a line that is deeper than the line before it. */
function blockBody(text: string, from: number): number | undefined {
  let start = from;
  for (let step = 0; step < 60; step++) {
    const next = lineEnd(text, start) + 1;
    if (next >= text.length) return undefined;
    const deeper = indentationAt(text, next) > indentationAt(text, start);
    if (deeper && !isBlank(text, next) && !isBlank(text, start)) return next + indentationAt(text, next);
    start = next;
  }
  return undefined;
}

function pickCursor(kind: CursorKind, text: string, line: number, random: Random): number | undefined {
  switch (kind) {
    case 'inside line':
      return insideLine(text, line, random);
    case 'after bracket':
      return afterBracket(text, line, random);
    case 'new line':
      return line + (random.chance(0.85) ? indentationAt(text, line) : 0);
    case 'block body':
      return blockBody(text, line);
    case 'anywhere':
      return random.integer(text.length);
  }
}

function afterLines(text: string, cursor: number, count: number): number {
  let end = lineEnd(text, cursor);
  for (let line = 1; line < count && end < text.length; line++) end = lineEnd(text, end + 1);
  return end;
}

/** The last line of the run of lines that are indented at least as deep as the cursor's. */
function blockEnd(text: string, cursor: number): number {
  const depth = indentationAt(text, lineStart(text, cursor));
  let end = lineEnd(text, cursor);
  for (let line = 1, next = end; line < MAX_MIDDLE_LINES && next < text.length; line++) {
    const start = next + 1;
    next = lineEnd(text, start);
    if (isBlank(text, start)) continue;
    if (indentationAt(text, start) < depth) break;
    end = next;
  }
  return end;
}

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '<': '>' };

/** Just before the bracket that closes the one left of the cursor; the line's end when there is none near. */
function bracketEnd(text: string, cursor: number): number {
  const open = text[cursor - 1]!;
  const close = CLOSING[open];
  if (!close) return lineEnd(text, cursor);
  let depth = 1;
  for (let offset = cursor; offset < Math.min(text.length, cursor + MAX_MIDDLE_CHARACTERS); offset++) {
    if (text[offset] === open) depth++;
    else if (text[offset] === close && --depth === 0) return offset;
  }
  return lineEnd(text, cursor);
}

function pickEnd(kind: EndKind, text: string, cursor: number, random: Random): number {
  switch (kind) {
    case 'line':
      return lineEnd(text, cursor);
    case 'lines':
      return afterLines(text, cursor, 2 + random.integer(8));
    case 'block':
      return blockEnd(text, cursor);
    case 'bracket':
      return bracketEnd(text, cursor);
  }
}

function splitsCharacter(text: string, offset: number): boolean {
  const unit = text.charCodeAt(offset);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/**
 * Picks what to fill in: a cursor where people type, and an end where a line, a block or a call ends.
 * Undefined when this try found no place, or an empty or very long one; 3 % of the empty ones are kept, so that
 * the model learns that nothing may be missing.
 */
export function pickSpan(text: string, random: Random): Span | undefined {
  const line = pickLine(text, random);
  if (line === undefined) return undefined;
  const kind = random.choose(CURSOR_WEIGHTS);
  const start = pickCursor(kind, text, line, random);
  if (start === undefined) return undefined;
  const end = pickEnd(random.choose(END_WEIGHTS[kind]), text, start, random);
  if (end < start || end - start > MAX_MIDDLE_CHARACTERS) return undefined;
  if (end === start && !random.chance(0.03)) return undefined;
  return splitsCharacter(text, start) || splitsCharacter(text, end) ? undefined : { start, end };
}
