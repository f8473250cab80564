import { codeLines } from './codeLines.ts';
import { type TaskKind, takeOut } from './task.ts';

/** Typed so far and still to come, at least; less says nothing. */
const LEAST_TYPED = 3;
const LEAST_REST = 4;

/** Where somebody looks up while typing a line: after a space, a dot or an opening bracket. */
const pauses = /(?<=[\s.([{,=:])(?=\S)/gu;

/** Somebody is typing a line; its rest is to come, and the lines below are there. */
export const endOfLine: TaskKind = {
  find(text) {
    return codeLines(text).flatMap(({ text: line, start, indentation, isComment }) => {
      if (isComment || /\s$/u.test(line)) return [];
      return [...line.matchAll(pauses)]
        .map(({ index }) => index)
        .filter((at) => at >= indentation + LEAST_TYPED && line.length - at >= LEAST_REST)
        .map((at) => ({ start: start + at, end: start + line.length }));
    });
  },
  cut: takeOut,
};
