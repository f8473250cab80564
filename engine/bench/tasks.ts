import { shuffle } from 'simple-statistics';
import { keystrokeBefore } from '../benchmark/keystrokeBefore.ts';
import { renameHalfway } from '../benchmark/tasks/renameHalfway.ts';
import { takeOut } from '../benchmark/tasks/task.ts';
import type { Random } from '../seededRandom.ts';
import type { BenchDocument, BenchWorkspace } from './benchWorkspace.ts';

/**
 * `repeating`: what really follows stands elsewhere in the workspace too. `edit`: a name was changed everywhere above
 * the cursor, and the lines at the cursor are written once more with the new one. `novel`: no line of what really
 * follows stands anywhere else.
 */
export const taskClasses = ['repeating', 'edit', 'novel'] as const;
export type TaskClass = (typeof taskClasses)[number];

/** A real place in real code, with the text that follows held out. */
export interface BenchTask {
  readonly workspace: string;
  readonly path: string;
  /** Of the cursor, from 1. */
  readonly line: number;
  readonly taskClass: TaskClass;
  readonly before: string;
  readonly after: string;
  /** What really stands there. */
  readonly truth: string;
}

/** About 64 tokens of code. */
const TRUTH_CHARACTERS = 230;
/** About 32 tokens: that much has to stand elsewhere, word for word. */
const REPEATED_CHARACTERS = 120;
/** Shorter lines (`} else {`) stand everywhere and say nothing. */
const TELLING_LINE = 12;
/** Places this near the start of a file have too little before them. */
const LEAST_BEFORE = 400;

/** Up to `perClass` tasks of each class, at most one a place, the same for the same seed. */
export function sampleTasks(workspace: BenchWorkspace, perClass: number, random: Random): BenchTask[] {
  const lineCounts = countLines(workspace);
  const wanted = new Map<TaskClass, number>(taskClasses.map((taskClass) => [taskClass, perClass]));
  const tasks: BenchTask[] = [];
  for (const place of shuffle(places(workspace), random)) {
    const taskClass = classify(place, workspace, lineCounts, wanted);
    const task = taskClass && createTask(place, workspace, taskClass);
    if (!task) continue;
    tasks.push(task);
    wanted.set(task.taskClass, wanted.get(task.taskClass)! - 1);
    if ([...wanted.values()].every((count) => count === 0)) break;
  }
  return tasks;
}

/** The start of a line's text, and what stands from there to the end of some line. */
interface Place {
  readonly document: BenchDocument;
  readonly offset: number;
  readonly truth: string;
}

function places({ documents }: BenchWorkspace): Place[] {
  return documents.flatMap((document) =>
    [...document.text.matchAll(/^[ \t]*(?=\S)/gm)]
      .map((match) => match.index + match[0].length)
      .filter((offset) => offset >= LEAST_BEFORE && offset + TRUTH_CHARACTERS < document.text.length)
      .map((offset) => ({ document, offset, truth: wholeLines(document.text, offset, TRUTH_CHARACTERS) })),
  );
}

function wholeLines(text: string, start: number, leastLength: number): string {
  const end = text.indexOf('\n', start + leastLength);
  return text.slice(start, end < 0 ? text.length : end);
}

function countLines({ documents }: BenchWorkspace): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { text } of documents) {
    for (const line of telling(text)) counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return counts;
}

const telling = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.length >= TELLING_LINE);

function classify(
  place: Place,
  workspace: BenchWorkspace,
  lineCounts: ReadonlyMap<string, number>,
  wanted: ReadonlyMap<TaskClass, number>,
): TaskClass | undefined {
  const lines = telling(place.truth);
  if (lines.length === 0) return undefined;
  const isNovel = lines.every((line) => (lineCounts.get(line) ?? 0) <= 1);
  if (isNovel) return (['novel', 'edit'] as const).find((taskClass) => wanted.get(taskClass)! > 0);
  if (wanted.get('repeating')! > 0 && standsElsewhere(place, workspace)) return 'repeating';
  return undefined;
}

function standsElsewhere({ document, offset, truth }: Place, { documents }: BenchWorkspace): boolean {
  const wanted = truth.slice(0, REPEATED_CHARACTERS);
  const isHeldOut = (at: number) => at > offset - REPEATED_CHARACTERS && at < offset + truth.length;
  return documents.some(({ text }) => {
    let at = text.indexOf(wanted);
    while (at >= 0 && text === document.text && isHeldOut(at)) at = text.indexOf(wanted, at + 1);
    return at >= 0;
  });
}

function createTask(
  { document, offset, truth }: Place,
  workspace: BenchWorkspace,
  taskClass: TaskClass,
): BenchTask | undefined {
  const { text } = document;
  const span = { start: offset, end: offset + truth.length };
  const hole = taskClass === 'edit' ? renameHalfway(text, span) : takeOut(text, span);
  if (!hole) return undefined;
  const { before, realText, after } = hole;
  const line = before.split('\n').length;
  return { workspace: workspace.name, path: document.path, line, taskClass, before, after, truth: realText };
}

/** The task as it was before the last key was typed. */
export function oneKeystrokeBefore(task: BenchTask): BenchTask {
  const before = keystrokeBefore(task.before);
  const typed = task.before.slice(before.length);
  return { ...task, before, line: task.line - (typed.split('\n').length - 1), truth: typed + task.truth };
}
