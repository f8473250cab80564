import { type CodeLine, codeLines } from './codeLines.ts';
import { type TaskKind, takeOut } from './task.ts';

const LEAST_LINES = 2;
const MOST_LINES = 12;

/** The cursor stands on an empty line inside a block; the statements up to the block's end or a blank line are to come. */
export const block: TaskKind = {
  find(text) {
    const lines = codeLines(text);
    return lines.flatMap((line, first) => {
      if (line.indentation <= 0 || line.isComment || closes(line)) return [];
      const count = statementLines(lines, first);
      if (count < LEAST_LINES || count > MOST_LINES) return [];
      const last = lines[first + count - 1];
      return [{ start: line.start + line.indentation, end: last.start + last.text.length }];
    });
  },
  cut: takeOut,
};

const closes = ({ text }: CodeLine) => /^\s*[)\]}]/u.test(text);

/** Lines from the first one on that belong to its block; 0 when the text ends inside it. */
function statementLines(lines: readonly CodeLine[], first: number): number {
  const { indentation } = lines[first];
  let end = first;
  for (let i = first + 1; i < lines.length; i++) {
    const line = lines[i];
    const isBlank = line.indentation < 0;
    // A blank line between the parts of one statement does not end it.
    if (isBlank && lines[end].indentation <= indentation) return end - first + 1;
    if (!isBlank && line.indentation < indentation) return end - first + 1;
    if (!isBlank) end = i;
  }
  return 0;
}
