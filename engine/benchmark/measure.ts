import type { Algorithm } from '../protocol.ts';
import { documentId } from '../workspace/documentId.ts';
import type { Attempt, Contender } from './contender.ts';
import type { DocumentIndex } from './documentIndex.ts';
import type { BenchmarkTask } from './tasks/task.ts';

/** A task with what every algorithm made of it. */
export interface MeasuredTask {
  readonly task: BenchmarkTask;
  readonly attempts: ReadonlyMap<Algorithm, Attempt>;
}

export interface MeasureOptions {
  readonly index: DocumentIndex;
  readonly signal: AbortSignal;
  /** After each attempt. */
  readonly onAttempt: () => void;
}

/**
 * Completes every task with every algorithm, one right after the other, so that what disturbs the machine disturbs all
 * of them. Another one begins each time: the first one finds other caches than the last.
 *
 * @returns the tasks that every algorithm completed; fewer when it was cancelled
 */
export async function measure(
  contenders: readonly Contender[],
  tasks: readonly BenchmarkTask[],
  { index, signal, onAttempt }: MeasureOptions,
): Promise<MeasuredTask[]> {
  const measured: MeasuredTask[] = [];
  for (const [turn, task] of tasks.entries()) {
    const attempts = new Map<Algorithm, Attempt>();
    const id = documentId(task.document.uri);
    index.holdOut(id, task.before + task.after);
    for (const contender of rotated(contenders, turn)) {
      const attempt = await contender.complete(task, signal);
      if (!attempt) return measured;
      attempts.set(contender.algorithm, attempt);
      onAttempt();
    }
    index.restore(id);
    measured.push({ task, attempts });
  }
  return measured;
}

function rotated<Item>(items: readonly Item[], turn: number): Item[] {
  const first = turn % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}
