import type { Algorithm } from '../protocol.ts';
import type { TaskClass } from './benchmarkReport.ts';
import type { Attempt, Contender } from './contender.ts';
import { inTurn } from './inTurn.ts';
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
 * of them.
 *
 * @returns the tasks that every algorithm completed; fewer when it was cancelled
 */
export async function measure(
  contenders: readonly Contender[],
  tasks: readonly BenchmarkTask[],
  { workspace, signal, onAttempt }: MeasureOptions,
): Promise<MeasuredTask[]> {
  const measured: MeasuredTask[] = [];
  const longest = new Map<TaskClass, number>();
  for (const [turn, task] of tasks.entries()) {
    const attempts = new Map<Algorithm, Attempt>();
    workspace.holdOut(task);
    try {
      for (const contender of inTurn(contenders, turn)) {
        const attempt = await contender.complete(task, signal);
        if (!attempt) return measured;
        attempts.set(contender.algorithm, attempt);
        onAttempt();
      }
    } finally {
      workspace.restore(task);
    }
    measured.push({ task, attempts });
    keepStepsOfLongest(measured, longest);
  }
  return measured;
}

/**
 * Steps are shown of the longest completion of each class alone: those of a thousand others would fill the memory.
 *
 * @param measured the last one is new
 * @param longest where the longest of each class stands so far
 */
function keepStepsOfLongest(measured: MeasuredTask[], longest: Map<TaskClass, number>): void {
  const last = measured.length - 1;
  const { taskClass } = measured[last].task;
  const before = longest.get(taskClass);
  const isLongest = before === undefined || plainLength(measured[last]) > plainLength(measured[before]);
  if (isLongest) longest.set(taskClass, last);
  const shorter = isLongest ? before : last;
  if (shorter !== undefined) measured[shorter] = withoutSteps(measured[shorter]);
}

const plainLength = ({ attempts }: MeasuredTask) => attempts.get('none')!.tokens.length;

function withoutSteps({ task, attempts }: MeasuredTask): MeasuredTask {
  const bare = [...attempts].map(([algorithm, attempt]) => [algorithm, { ...attempt, steps: [] }] as const);
  return { task, attempts: new Map(bare) };
}
