import { Edit, type Point } from 'web-tree-sitter';

/** The smallest edit that makes one text of another. */
export function editBetween(old: string, text: string): Edit {
  const start = commonStart(old, text);
  const kept = commonEnd(old, text, start);
  const oldEnd = old.length - kept;
  const newEnd = text.length - kept;
  return new Edit({
    startIndex: start,
    oldEndIndex: oldEnd,
    newEndIndex: newEnd,
    startPosition: pointAt(text, start),
    oldEndPosition: pointAt(old, oldEnd),
    newEndPosition: pointAt(text, newEnd),
  });
}

function commonStart(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let at = 0;
  while (at < end && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}

/** @param start where the texts begin to differ: what lies before is not looked at */
function commonEnd(a: string, b: string, start: number): number {
  const most = Math.min(a.length, b.length) - start;
  let length = 0;
  while (length < most && a.charCodeAt(a.length - 1 - length) === b.charCodeAt(b.length - 1 - length))
    length++;
  return length;
}

function pointAt(text: string, index: number): Point {
  let row = 0;
  let lineStart = 0;
  for (;;) {
    const lineBreak = text.indexOf('\n', lineStart);
    if (lineBreak === -1 || lineBreak >= index) return { row, column: index - lineStart };
    row++;
    lineStart = lineBreak + 1;
  }
}
