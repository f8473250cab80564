import { cutLine } from '../../eval/cutLine.ts';
import type { MaskKind } from '../../eval/evalTask.ts';
import type { Random } from '../../seededRandom.ts';
import type { Span } from '../../syntax/syntaxTree.ts';
import type { TaskClass } from '../benchmarkReport.ts';
import { renameHalfway } from './renameHalfway.ts';
import { type Hole, takeOut } from './task.ts';

/** How the places of a class are found, and what they look like to somebody who has yet to write them. */
interface TaskKind {
  readonly spans: MaskKind;
  /** Undefined where the span turns out to be no such place. */
  readonly cut: (text: string, span: Span, random: Random) => Hole | undefined;
}

export const taskKinds: Readonly<Record<TaskClass, TaskKind>> = {
  end_of_line: {
    spans: 'line_rest',
    cut: (text, line, random) => takeOut(text, cutLine(text, line, random)),
  },
  block: { spans: 'block', cut: takeOut },
  mid_line: { spans: 'arguments', cut: takeOut },
  repetitive_edit: {
    spans: 'line',
    cut: (text, { start }) => renameHalfway(text, { start, end: endOfLines(text, start) }),
  },
};

/** About 40 tokens of code: the lines to be written again. */
const LEAST_REWRITTEN = 140;

function endOfLines(text: string, start: number): number {
  const at = text.slice(start + LEAST_REWRITTEN).search(/\r?\n/u);
  return at < 0 ? text.length : start + LEAST_REWRITTEN + at;
}
