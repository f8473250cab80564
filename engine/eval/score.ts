import type { Syntax } from '../syntax/syntax.ts';
import type { CompletedTask, Suggestion } from './completeTask.ts';
import { editSimilarity } from './editSimilarity.ts';

/** How much a suggestion is what really stands there, each from 0 to 1. */
export interface Likeness {
  readonly exactMatch: number;
  readonly editSimilarity: number;
  readonly firstLineMatch: number;
}

export interface Score extends Likeness {
  /** Whether the completed document parses as well as the real one; undefined when nothing was suggested. */
  readonly parses: number | undefined;
}

export function score({ task, suggestion }: CompletedTask, syntax: Syntax): Score {
  if ('emptyReason' in suggestion) return { ...nothingAlike, parses: undefined };
  const { text, covered } = suggestion;
  const problems = (middle: string, after: string) =>
    syntax.parse(task.before + middle + after, (tree) => tree.countProblems());
  const parses = problems(text, task.after.slice(covered)) <= problems(task.truth, task.after);
  return { ...likeness(suggestion, task.truth, task.after), parses: Number(parses) };
}

export const nothingAlike: Likeness = { exactMatch: 0, editSimilarity: 0, firstLineMatch: 0 };

/**
 * White space at the end of lines does not count.
 *
 * @param after the text after the real one, of which the suggestion may write the beginning again
 */
export function likeness({ text, covered }: Suggestion, realText: string, after: string): Likeness {
  const written = trimLines(text);
  const wanted = trimLines(realText + after.slice(0, covered));
  return {
    exactMatch: Number(written === wanted),
    editSimilarity: editSimilarity(written, wanted),
    firstLineMatch: Number(firstLine(written) === firstLine(wanted)),
  };
}

function trimLines(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  return lines.join('\n').trimEnd();
}

const firstLine = (text: string) => text.split('\n', 1)[0];
