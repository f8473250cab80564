import { basename } from 'node:path';
import { cursorOf } from '../benchmark/reportText.ts';
import type { SlipstreamEngine } from '../engine.ts';
import { SlipstreamError } from '../errors.ts';
import { describeMachine } from '../machine.ts';
import { seededRandom } from '../seededRandom.ts';
import { loadSyntax } from '../syntax/syntax.ts';
import { codeFiles } from './codeFiles.ts';
import { type CompletedTask, completeTask } from './completeTask.ts';
import type { EvalMachine, EvalReport, EvalTaskResult } from './evalReport.ts';
import type { EvalTask } from './evalTask.ts';
import { type EvalEngine, openEngine } from './openEngine.ts';
import { sampleTasks } from './sampleTasks.ts';
import { score } from './score.ts';
import { type ScoredTask, summarize } from './summarize.ts';

export interface EvalJob extends EvalEngine {
  readonly taskCount: number;
  readonly seed: number;
  readonly onProgress: (progress: EvalProgress) => void;
}

export type EvalProgress =
  | { readonly step: 'sampling' | 'loading' }
  | { readonly step: 'completing'; readonly done: number; readonly total: number };

/**
 * Holds back places in real code and has them completed by the same path as in the editor.
 * @throws SlipstreamError usage when the folder has nothing to hold back, and what opening a model throws
 */
export async function evaluate(job: EvalJob): Promise<EvalReport> {
  const { folder, taskCount, seed, onProgress } = job;
  onProgress({ step: 'sampling' });
  const tasks = await sampleTasks(folder, await codeFiles(folder), taskCount, seededRandom(seed));
  if (tasks.length === 0) {
    throw new SlipstreamError('usage', `${folder}: there is no code here whose language has a grammar`);
  }
  onProgress({ step: 'loading' });
  const engine = await openEngine(job);
  try {
    await engine.whenIndexed();
    return report(job, engine, await completeTasks(engine, tasks, job));
  } finally {
    await engine.dispose();
  }
}

async function completeTasks(
  engine: SlipstreamEngine,
  tasks: readonly EvalTask[],
  { folder, onProgress }: EvalJob,
): Promise<ScoredTask[]> {
  const scored: ScoredTask[] = [];
  for (const task of tasks) {
    onProgress({ step: 'completing', done: scored.length, total: tasks.length });
    const completed = await completeTask(engine, folder, task);
    scored.push({ ...completed, score: score(completed, await loadSyntax(task.language)) });
  }
  return scored;
}

function report(
  { folder, seed, context }: EvalJob,
  engine: SlipstreamEngine,
  scored: readonly ScoredTask[],
): EvalReport {
  const { name, precision, device } = engine.facts;
  return {
    schema_version: 1,
    created: new Date().toISOString(),
    seed,
    folder: basename(folder),
    context: context === 'workspace',
    machine: evalMachine(),
    model: { name, precision, device },
    results: summarize(scored, seed),
    tasks: scored.map(taskResult),
  };
}

function evalMachine(): EvalMachine {
  const { cpu, cores, memoryBytes, platform, node } = describeMachine();
  return { cpu, cores, memory_bytes: memoryBytes, platform, node };
}

function taskResult({ task, suggestion, score }: CompletedTask & ScoredTask): EvalTaskResult {
  const shown = 'text' in suggestion ? suggestion : undefined;
  const { truth, after } = task;
  return {
    path: task.path,
    ...cursorOf(task),
    language: task.language,
    kind: task.kind,
    real_text: truth + after.slice(0, shown?.covered ?? 0),
    suggestion: shown?.text ?? null,
    exact_match: score.exactMatch === 1,
    edit_similarity: score.editSimilarity,
    first_line_match: score.firstLineMatch === 1,
    parses: score.parses === undefined ? null : score.parses === 1,
  };
}
