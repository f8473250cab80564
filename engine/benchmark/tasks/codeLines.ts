/** A line of code, without its line break. */
export interface CodeLine {
  readonly text: string;
  /** Offset of its first character. */
  readonly start: number;
  /** White space at its start, in characters; -1 for a blank line. */
  readonly indentation: number;
  readonly isComment: boolean;
}

const comment = /^\s*(?:\/\/|\/?\*|#(?!include|define|if|else|endif|\[)|--|<!--)/u;

export function codeLines(text: string): CodeLine[] {
  const lines: CodeLine[] = [];
  for (const match of text.matchAll(/^[^\r\n]*/gmu)) {
    const [line] = match;
    lines.push({
      text: line,
      start: match.index,
      indentation: line.search(/\S/u),
      isComment: comment.test(line),
    });
  }
  return lines;
}
