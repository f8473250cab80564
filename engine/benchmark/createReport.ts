import { busyWarning, type Machine } from '../machine.ts';
import type { ModelRuntime } from '../modelRuntime.ts';
import {
  type BenchmarkMachine,
  type BenchmarkModel,
  type BenchmarkReport,
  type BenchmarkTaskFacts,
  type TaskRunFacts,
  taskClasses,
} from './benchmarkReport.ts';
import type { Contender } from './contender.ts';
import { findDifferences } from './differences.ts';
import type { Material } from './material.ts';
import type { MeasuredTask } from './measure.ts';
import { cursorOf } from './reportText.ts';
import { type ContenderFacts, likenessOf, summarizeTasks } from './results.ts';
import type { BenchmarkOptions } from './runBenchmark.ts';
import type { BenchmarkTask } from './tasks/task.ts';
import type { TaskWorkspace } from './taskWorkspace.ts';
import { traceLongest } from './trace.ts';
import { verdictOn } from './verdict.ts';

/** A benchmark that has ended. */
export interface EndedBenchmark {
  readonly options: BenchmarkOptions;
  readonly machine: Machine;
  readonly material: Material;
  readonly workspace: TaskWorkspace;
  /** The one that plain decoding ran on. */
  readonly runtime: ModelRuntime;
  readonly contenders: readonly Contender[];
  /** See ContenderPlans. */
  readonly planNotes: readonly string[];
  /** Those that were to be measured. */
  readonly tasks: readonly BenchmarkTask[];
  /** Those that were; at least one. */
  readonly measured: readonly MeasuredTask[];
}

export function createReport(ended: EndedBenchmark): BenchmarkReport {
  const { options, machine, material, workspace, runtime, contenders, tasks, measured } = ended;
  const { tokenizer, model } = runtime;
  const facts = contenders.map((contender) => contenderFacts(contender, runtime));
  const results = summarizeTasks(facts, measured, options.seed);
  const differences = findDifferences(measured, tokenizer, model.info.device);
  return {
    schema_version: 1,
    created: new Date().toISOString(),
    seed: options.seed,
    max_new_tokens: options.maxNewTokens,
    cancelled: measured.length < tasks.length,
    material: {
      kind: material.kind,
      name: material.name,
      files: material.documents.length,
      indexed_tokens: workspace.ngrams.tokenCount,
      index_bytes: workspace.ngrams.bytes,
    },
    machine: machineFacts(machine),
    model: modelFacts(runtime),
    algorithms: facts.map(({ algorithm }) => algorithm),
    tasks: measured.map(({ task }, id) => taskFacts(task, id)),
    results,
    runs: measured.flatMap(runFacts),
    differences,
    traces: traceLongest(measured, tokenizer),
    ...verdictOn(results, differences),
    notes: notes(ended),
  };
}

function contenderFacts(
  { algorithm, runtime, drafterBytes }: Contender,
  plain: ModelRuntime,
): ContenderFacts {
  const sessionBytes = Math.max(0, runtime.sessionBytes - plain.sessionBytes);
  return { algorithm, costTable: runtime.costTable, extraMemoryBytes: drafterBytes + sessionBytes };
}

function machineFacts({ cpu, cores, memoryBytes, platform, node, load }: Machine): BenchmarkMachine {
  return { cpu, cores, memory_bytes: memoryBytes, platform, node, load };
}

function modelFacts({ model, costTable }: ModelRuntime): BenchmarkModel {
  const { name, family, precision, device, weightBytes, contextLength, vocabSize } = model.info;
  const { nodeCounts, contexts, ms } = costTable;
  return {
    name,
    family,
    precision,
    device,
    weight_bytes: weightBytes,
    context_length: contextLength,
    vocab_size: vocabSize,
    cost_table: { node_counts: nodeCounts, contexts, ms },
  };
}

function taskFacts(task: BenchmarkTask, id: number): BenchmarkTaskFacts {
  const { taskClass, document, realText } = task;
  return { id, task_class: taskClass, path: document.path, ...cursorOf(task), real_text: realText };
}

function runFacts({ task, attempts }: MeasuredTask, id: number): TaskRunFacts[] {
  return [...attempts.values()].map((attempt) => {
    const { exactMatch, editSimilarity } = likenessOf(attempt, task);
    return {
      task: id,
      algorithm: attempt.algorithm,
      ttft_ms: attempt.ttftMs,
      latency_ms: attempt.latencyMs,
      decode_ms: attempt.metrics.decodeMs,
      completion_tokens: attempt.metrics.completionTokens,
      text: attempt.suggestion?.text ?? '',
      exact_match: exactMatch === 1,
      edit_similarity: editSimilarity,
    };
  });
}

/** Fewer tasks than this leave the intervals too narrow: the bootstrap sees no more than what was drawn. */
const ENOUGH_TASKS = 10;

function notes({
  options,
  machine,
  material,
  runtime,
  planNotes,
  tasks,
  measured,
}: EndedBenchmark): string[] {
  const missing = taskClasses.filter((one) => !measured.some(({ task }) => task.taskClass === one));
  const found = [
    busyWarning(machine),
    runtime.deviceNote,
    ...planNotes,
    material.kind === 'sample' &&
      'There is no code in the workspace to complete: the sample files of Slipstream were used.',
    material.isPartial && 'The workspace is large: files for a million tokens were drawn by the seed.',
    tasks.length < options.tasks && `There are no more than ${tasks.length} places to complete here.`,
    missing.length > 0 && `Nothing was measured of ${missing.join(', ')}.`,
    measured.length < ENOUGH_TASKS && 'So few tasks say little: the intervals are only rough.',
  ];
  return found.filter((note) => typeof note === 'string');
}
