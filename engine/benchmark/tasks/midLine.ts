import { codeLines } from './codeLines.ts';
import { type Span, type TaskKind, takeOut } from './task.ts';

const LEAST_INSIDE = 4;
const MOST_INSIDE = 80;
const closers: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** Brackets were opened and closed, as editors do it by themselves; what stands between them is to come. */
export const midLine: TaskKind = {
  find(text) {
    return codeLines(text)
      .filter(({ isComment }) => !isComment)
      .flatMap(({ text: line, start }) => insides(line).map((inside) => moved(inside, start)));
  },
  cut: takeOut,
};

/** Between each bracket of the line and the one that closes it on the same line. */
function insides(line: string): Span[] {
  const found: Span[] = [];
  const open: { readonly closer: string; readonly start: number }[] = [];
  for (const { 0: bracket, index } of line.matchAll(/[()[\]{}]/gu)) {
    const closer = closers[bracket];
    if (closer !== undefined) open.push({ closer, start: index + 1 });
    else if (open.at(-1)?.closer === bracket) found.push({ start: open.pop()!.start, end: index });
  }
  return found.filter(({ start, end }) => end - start >= LEAST_INSIDE && end - start <= MOST_INSIDE);
}

const moved = ({ start, end }: Span, by: number): Span => ({ start: start + by, end: end + by });
