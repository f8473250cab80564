import type { Tokenizer } from '../model/tokenizer.ts';
import type { TokenFacts } from './benchmarkReport.ts';
import type { BenchmarkTask } from './tasks/task.ts';

/** A token as it is shown. */
export function tokenFacts(token: number, tokenizer: Tokenizer): TokenFacts {
  return { token, text: tokenizer.decodeVisible([token]) };
}

/** The cursor's line and column, from 1. */
export function cursorOf({ before }: Pick<BenchmarkTask, 'before'>): { line: number; column: number } {
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') };
}

/** The place of a task as editors take it. */
export function placeText(task: BenchmarkTask): string {
  const { line, column } = cursorOf(task);
  return `${task.document.path}:${line}:${column}`;
}
