import type { Syntax } from '../syntax/syntax.ts';
import type { CompletedTask } from './completeTask.ts';
import { editSimilarity } from './editSimilarity.ts';

/** How good a suggestion is, each from 0 to 1. */
export interface Score {
  readonly exactMatch: number;
  readonly editSimilarity: number;
  readonly firstLineMatch: number;
  /** Whether the completed document parses as well as the real one; undefined when nothing was suggested. */
  readonly parses: number | undefined;
}

/** White space at the end of lines does not count. */
export function score({ task, suggestion }: CompletedTask, syntax: Syntax): Score {
  if ('emptyReason' in suggestion) {
    return { exactMatch: 0, editSimilarity: 0, firstLineMatch: 0, parses: undefined };
  }
  const { text, covered } = suggestion;
  const written = trimLines(text);
  const wanted = trimLines(task.truth + task.after.slice(0, covered));
  const problems = (middle: string, after: string) =>
    syntax.parse(task.before + middle + after, (tree) => tree.countProblems())!;
  const parses = problems(text, task.after.slice(covered)) <= problems(task.truth, task.after);
  return {
    exactMatch: Number(written === wanted),
    editSimilarity: editSimilarity(written, wanted),
    firstLineMatch: Number(firstLine(written) === firstLine(wanted)),
    parses: Number(parses),
  };
}

function trimLines(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  return lines.join('\n').trimEnd();
}

const firstLine = (text: string) => text.split('\n', 1)[0];
