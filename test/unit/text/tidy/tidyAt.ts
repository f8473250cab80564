import type { Filter, TidyContext } from '../../../../engine/text/tidy/filter.ts';
import { type Tidied, tidy } from '../../../../engine/text/tidy/tidy.ts';
import { pointAt } from '../cursorMark.ts';

/** What filters see at the cursor mark of a document; two spaces of indentation unless told. */
export const contextAt = (marked: string, more: Partial<TidyContext> = {}): TidyContext => ({
  point: pointAt(marked),
  indentation: { insertSpaces: true, tabSize: 2 },
  specialTokenNames: ['<|endoftext|>', '<|fim_middle|>'],
  ...more,
});

export const filterAt = (filter: Filter, marked: string, text: string, more?: Partial<TidyContext>) =>
  filter(text, contextAt(marked, more));

/** The document after the suggestion was accepted, with the cursor where VS Code leaves it. */
export function acceptedAt(marked: string, text: string, more?: Partial<TidyContext>): string {
  const context = contextAt(marked, more);
  const result = tidy(text, context);
  return result.kind === 'empty' ? `(${result.reason})` : accept(marked.replace('│', ''), result);
}

export function accept(document: string, { text, range }: Tidied & { kind: 'text' }): string {
  const lines = document.split(/(?<=\n)/);
  const line = lines[range.start.line] ?? '';
  lines[range.start.line] =
    `${line.slice(0, range.start.character)}${text}│${line.slice(range.end.character)}`;
  return lines.join('');
}
