import { alignedRows } from '../alignedRows.ts';
import { type AlgorithmResult, type BenchmarkReport, taskClasses } from './benchmarkReport.ts';

const header = [
  'tasks',
  'algorithm',
  'tokens/s',
  'speed-up',
  '[95 %]',
  'length',
  'accepted',
  'first token',
  'suggestion p50',
  'p90',
  'p99',
  'exact',
  'similar',
  'memory',
];
const LEFT_COLUMNS = 2;

/** A report as a table for people, with what they have to know to read it. */
export function benchmarkText(report: BenchmarkReport): string {
  const { results, differences, summary, notes } = report;
  const groups = (['all', ...taskClasses] as const)
    .map((taskClass) => results.filter((result) => result.task_class === taskClass))
    .filter((group) => group.length > 0);
  return [
    ...alignedRows([header, ...groups.flatMap((group) => group.map(cells))], LEFT_COLUMNS),
    '',
    'speed-up: of decoding, over none. length: mean acceptance length. accepted: of the drafted tokens.',
    'first token, suggestion: ms from the request, the prompt warm as while typing. docs/benchmark-json.md says more.',
    '',
    where(report),
    ...notes,
    ...differences.map(({ is_fault, cause }) => (is_fault ? `ERROR ${cause}` : cause)),
    '',
    summary,
  ].join('\n');
}

function cells(result: AlgorithmResult, row: number): string[] {
  const [low, high] = result.speedup_ci;
  const isPlain = result.algorithm === 'none';
  return [
    row === 0 ? `${result.task_class} (${result.tasks})` : '',
    result.algorithm,
    result.tokens_per_s.toFixed(0),
    `${result.speedup.toFixed(2)}x`,
    isPlain ? '' : `[${low.toFixed(2)}, ${high.toFixed(2)}]`,
    result.mean_acceptance_length.toFixed(2),
    isPlain ? '' : percent(result.acceptance_rate),
    result.ttft_ms.p50.toFixed(1),
    result.latency_ms.p50.toFixed(0),
    result.latency_ms.p90.toFixed(0),
    result.latency_ms.p99.toFixed(0),
    percent(result.exact_match),
    percent(result.edit_similarity),
    isPlain ? '' : `+${(result.extra_memory_bytes / 2 ** 20).toFixed(1)} MiB`,
  ];
}

const percent = (share: number) => `${(100 * share).toFixed(0)} %`;

function where({ material, machine, model, seed, max_new_tokens, cancelled }: BenchmarkReport): string {
  const { files, indexed_tokens, name } = material;
  return [
    `${name}: ${files} files, ${indexed_tokens} tokens; seed ${seed}, at most ${max_new_tokens} new tokens, greedy.`,
    `${model.name}, ${model.precision}, on ${model.device}; ${machine.cores} x ${machine.cpu}, ${machine.platform}, Node ${machine.node}.`,
    ...(cancelled ? ['Cancelled: these are the tasks that were done by then.'] : []),
  ].join('\n');
}
