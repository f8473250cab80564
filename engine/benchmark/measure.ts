import type { Algorithm } from '../protocol.ts';
import type { Attempt, Contender } from './contender.ts';
import type { BenchmarkTask } from './tasks/task.ts';
import type { TaskWorkspace } from './taskWorkspace.ts';

/** A task with what every algorithm made of it. */
export interface MeasuredTask {
  readonly task: BenchmarkTask;
  readonly attempts: ReadonlyMap<Algorithm, Attempt>;
}

export interface MeasureOptions {
  readonly workspace: TaskWorkspace;
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
  { workspace, signal, onAttempt }: MeasureOptions,
): Promise<MeasuredTask[]> {
  const measured: MeasuredTask[] = [];
  for (const [turn, task] of tasks.entries()) {
    const attempts = new Map<Algorithm, Attempt>();
    workspace.holdOut(task);
    for (const contender of rotated(contenders, turn)) {
      const attempt = await contender.complete(task, signal);
      if (!attempt) return measured;
      attempts.set(contender.algorithm, attempt);
      onAttempt();
    }
    workspace.restore(task);
    measured.push({ task, attempts });
  }
  return measured;
}

function rotated<Item>(items: readonly Item[], turn: number): Item[] {
  const first = turn % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}
