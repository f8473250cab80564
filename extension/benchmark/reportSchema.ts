/** Benchmark reports from files and messages. The compiler checks the schemas against the engine's types. */
import * as v from 'valibot';
import type {
  Algorithm,
  AlgorithmResult,
  BenchmarkProgress,
  BenchmarkReport,
  CompletionTrace,
  OutputDifference,
  Percentiles,
  TaskClass,
  TaskRunFacts,
  TokenFacts,
  TraceNode,
  TraceStep,
} from '../../engine/protocol.ts';
import { algorithmNames } from '../algorithmNames.ts';
import { sourceNames, taskClassNames } from './reportNames.ts';

const keys = <K extends string>(names: Readonly<Record<K, unknown>>) => Object.keys(names) as K[];

export const algorithmSchema = v.picklist(keys<Algorithm>(algorithmNames));
export const taskClassSchema = v.picklist(keys<TaskClass>(taskClassNames));
const sourceSchema = v.picklist(keys<TraceNode['source']>(sourceNames));

const finite = v.pipe(v.number(), v.finite());
const amount = v.pipe(finite, v.minValue(0));
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const share = v.pipe(finite, v.minValue(0), v.maxValue(1));

const percentilesSchema = v.object({
  p50: amount,
  p90: amount,
  p99: amount,
  max: amount,
}) satisfies v.GenericSchema<unknown, Percentiles>;

const resultSchema = v.object({
  algorithm: algorithmSchema,
  task_class: v.union([taskClassSchema, v.literal('all')]),
  tasks: count,
  completion_tokens: count,
  tokens_per_s: amount,
  speedup: amount,
  speedup_ci: v.strictTuple([amount, amount]),
  mean_acceptance_length: amount,
  acceptance_rate: share,
  num_drafts: count,
  num_draft_tokens: count,
  num_accepted_tokens: count,
  accepted_per_pos: v.array(count),
  acceptance_rate_per_pos: v.array(share),
  accepted_per_source: v.record(sourceSchema, count),
  ttft_ms: percentilesSchema,
  latency_ms: percentilesSchema,
  draft_ms: amount,
  verify_ms: amount,
  prefilled_tokens: amount,
  exact_match: share,
  edit_similarity: finite,
  lossless: v.boolean(),
  extra_memory_bytes: finite,
  efficiency: finite,
}) satisfies v.GenericSchema<unknown, AlgorithmResult>;

const tokenSchema = v.object({ token: count, text: v.string() }) satisfies v.GenericSchema<
  unknown,
  TokenFacts
>;

const draftedSchema = v.pipe(
  v.array(
    v.object({
      ...tokenSchema.entries,
      parent: v.pipe(v.number(), v.safeInteger(), v.minValue(-1)),
      source: sourceSchema,
      probability: share,
      outcome: v.picklist(['accepted', 'rejected', 'unused']),
    }) satisfies v.GenericSchema<unknown, TraceNode>,
  ),
  v.check(
    (nodes) => nodes.every(({ parent }, node) => parent < node),
    'A parent has to stand before its children.',
  ),
);

const stepSchema = v.object({
  drafted: draftedSchema,
  bonus: v.nullable(tokenSchema),
  text: v.string(),
  draft_ms: amount,
  verify_ms: amount,
}) satisfies v.GenericSchema<unknown, TraceStep>;

const traceSchema = v.object({
  task: count,
  algorithm: algorithmSchema,
  before: v.string(),
  steps: v.array(stepSchema),
}) satisfies v.GenericSchema<unknown, CompletionTrace>;

const runSchema = v.object({
  task: count,
  algorithm: algorithmSchema,
  ttft_ms: amount,
  latency_ms: amount,
  decode_ms: amount,
  completion_tokens: count,
  text: v.string(),
  exact_match: v.boolean(),
  edit_similarity: finite,
}) satisfies v.GenericSchema<unknown, TaskRunFacts>;

const differenceSchema = v.object({
  task: count,
  algorithm: algorithmSchema,
  position: count,
  expected: v.nullable(tokenSchema),
  actual: v.nullable(tokenSchema),
  is_fault: v.boolean(),
  cause: v.string(),
}) satisfies v.GenericSchema<unknown, OutputDifference>;

const fieldsSchema = v.object({
  schema_version: v.literal(1),
  created: v.pipe(
    v.string(),
    v.check((text) => !Number.isNaN(Date.parse(text)), 'Expected a date.'),
  ),
  seed: count,
  max_new_tokens: count,
  cancelled: v.boolean(),
  material: v.object({
    kind: v.picklist(['folder', 'workspace', 'sample']),
    name: v.string(),
    files: count,
    indexed_tokens: count,
    index_bytes: count,
  }),
  machine: v.object({
    cpu: v.string(),
    cores: count,
    memory_bytes: count,
    platform: v.string(),
    node: v.string(),
    load: amount,
  }),
  model: v.object({
    name: v.string(),
    family: v.string(),
    precision: v.string(),
    device: v.string(),
    weight_bytes: count,
    context_length: count,
    vocab_size: count,
    cost_table: v.pipe(
      v.object({ node_counts: v.array(count), contexts: v.array(count), ms: v.array(v.array(amount)) }),
      v.check(
        ({ node_counts, ms }) => ms.every((row) => row.length === node_counts.length),
        'Each row has to have a time for each of node_counts.',
      ),
    ),
  }),
  algorithms: v.array(algorithmSchema),
  tasks: v.array(
    v.object({
      id: count,
      task_class: taskClassSchema,
      path: v.string(),
      line: count,
      column: count,
      real_text: v.string(),
    }),
  ),
  results: v.array(resultSchema),
  runs: v.array(runSchema),
  differences: v.array(differenceSchema),
  traces: v.array(traceSchema),
  fastest: algorithmSchema,
  summary: v.string(),
  notes: v.array(v.string()),
}) satisfies v.GenericSchema<unknown, BenchmarkReport>;

/** What the panel looks up without asking again. */
export const reportSchema: v.GenericSchema<unknown, BenchmarkReport> = v.pipe(
  fieldsSchema,
  v.check(
    ({ algorithms, results }) =>
      algorithms.every((algorithm) =>
        results.some((result) => result.algorithm === algorithm && result.task_class === 'all'),
      ),
    'Each algorithm needs a result over all tasks.',
  ),
  v.check(
    ({ algorithms, results, runs, traces, differences }) =>
      [...results, ...runs, ...traces, ...differences].every(({ algorithm }) =>
        algorithms.includes(algorithm),
      ),
    'There are figures of an algorithm that is not listed.',
  ),
  v.check(({ tasks, runs, traces, differences }) => {
    const ids = new Set(tasks.map(({ id }) => id));
    return [...runs, ...traces, ...differences].every(({ task }) => ids.has(task));
  }, 'A run, a trace or a difference is of a task that is not listed.'),
);

export const progressSchema: v.GenericSchema<unknown, BenchmarkProgress> = v.object({
  phase: v.picklist(['preparing', 'warmingUp', 'measuring']),
  done: count,
  total: count,
  detail: v.string(),
  remainingMs: v.exactOptional(amount),
});

/** @throws Error that names what is wrong with it, and where */
export function parseReport(json: string): BenchmarkReport {
  const parsed = v.safeParse(reportSchema, JSON.parse(json));
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const at = v.getDotPath(issue);
  throw new Error(at === null ? issue.message : `${at}: ${issue.message}`);
}
