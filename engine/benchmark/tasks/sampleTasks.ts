import { shuffle } from 'simple-statistics';
import type { Random } from '../../seededRandom.ts';
import { type TaskClass, taskClasses } from '../benchmarkReport.ts';
import { block } from './block.ts';
import { endOfLine } from './endOfLine.ts';
import { midLine } from './midLine.ts';
import { repetitiveEdit } from './repetitiveEdit.ts';
import type { BenchmarkDocument, BenchmarkTask, Span, TaskKind } from './task.ts';

const kinds: Readonly<Record<TaskClass, TaskKind>> = {
  end_of_line: endOfLine,
  block,
  mid_line: midLine,
  repetitive_edit: repetitiveEdit,
};

/** Nearer to the start of a file there is too little to go on. */
const LEAST_BEFORE = 200;
/** Spans of one document that are tried for one task, so that a class which a workspace does not have ends soon. */
const TRIES = 16;

/**
 * Up to `count` tasks, the same for the same documents and random numbers. The classes take turns, so that one without
 * places leaves its share to the others; within a class the documents do.
 *
 * @param documents those worth completing, in an order that does not depend on the file system
 */
export function sampleTasks(
  documents: readonly BenchmarkDocument[],
  count: number,
  random: Random,
): BenchmarkTask[] {
  const taken = new Set<string>();
  const sources = taskClasses.map((taskClass) => tasksOf(taskClass, documents, taken, random));
  const tasks: BenchmarkTask[] = [];
  for (let open = sources; open.length > 0 && tasks.length < count; ) {
    open = open.filter((source) => {
      const next = tasks.length < count ? source.next() : undefined;
      if (next && !next.done) tasks.push(next.value);
      return next && !next.done;
    });
  }
  return tasks;
}

/** @param taken places of tasks there are already, of any class: a line is completed once */
function* tasksOf(
  taskClass: TaskClass,
  documents: readonly BenchmarkDocument[],
  taken: Set<string>,
  random: Random,
): Generator<BenchmarkTask, undefined> {
  const spans = new Map<BenchmarkDocument, Span[]>();
  for (let queue = shuffle([...documents], random); queue.length > 0; ) {
    const open: BenchmarkDocument[] = [];
    for (const document of queue) {
      const rest = spans.get(document) ?? shuffle(spansOf(kinds[taskClass], document), random);
      spans.set(document, rest);
      const task = nextTask(taskClass, document, rest, taken);
      if (!task) continue;
      open.push(document);
      yield task;
    }
    queue = open;
  }
}

const spansOf = (kind: TaskKind, { text }: BenchmarkDocument) =>
  kind.find(text).filter(({ start }) => start >= LEAST_BEFORE);

function nextTask(
  taskClass: TaskClass,
  document: BenchmarkDocument,
  spans: Span[],
  taken: Set<string>,
): BenchmarkTask | undefined {
  for (let tries = 0; tries < TRIES && spans.length > 0; tries++) {
    const span = spans.pop()!;
    const line = `${document.path}:${document.text.lastIndexOf('\n', span.start - 1)}`;
    if (taken.has(line)) continue;
    const hole = kinds[taskClass].cut(document.text, span);
    if (!hole) continue;
    taken.add(line);
    return { taskClass, document, ...hole };
  }
  return undefined;
}
