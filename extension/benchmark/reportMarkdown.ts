import type { AlgorithmResult, BenchmarkReport, OutputDifference } from '../../engine/protocol.ts';
import { algorithmNames } from '../algorithmNames.ts';
import { taskClassNames } from './reportNames.ts';
import { type SameText, sameText } from './sameText.ts';

type Cell = (result: AlgorithmResult, differences: readonly OutputDifference[]) => string;

const columns: readonly (readonly [title: string, cell: Cell])[] = [
  [
    'Places',
    ({ task_class, tasks }) => `${task_class === 'all' ? 'All' : taskClassNames[task_class]} (${tasks})`,
  ],
  ['Algorithm', ({ algorithm }) => algorithmNames[algorithm]],
  ['Tokens/s', ({ tokens_per_s }) => tokens_per_s.toFixed(0)],
  ['Speed-up', ({ speedup }) => `${speedup.toFixed(2)}x`],
  ['95 % interval', ({ speedup_ci: [low, high] }) => `${low.toFixed(2)}x to ${high.toFixed(2)}x`],
  ['Mean acceptance length', ({ mean_acceptance_length }) => mean_acceptance_length.toFixed(2)],
  ['First token p50', ({ ttft_ms }) => `${ttft_ms.p50.toFixed(1)} ms`],
  ['Suggestion p50', ({ latency_ms }) => `${latency_ms.p50.toFixed(0)} ms`],
  ['p90', ({ latency_ms }) => `${latency_ms.p90.toFixed(0)} ms`],
  ['p99', ({ latency_ms }) => `${latency_ms.p99.toFixed(0)} ms`],
  ['Same text', (result, differences) => sameTextNames[sameText(result, differences)]],
];

const sameTextNames: Readonly<Record<SameText, string>> = {
  yes: 'yes',
  'near-ties': 'but for near-ties',
  no: '**NO**',
};

/** A report for an issue or a chat: the sentence, the table, what it was measured on. */
export function reportMarkdown(report: BenchmarkReport): string {
  const { summary, results, differences, notes } = report;
  return [
    '### Slipstream benchmark',
    '',
    summary,
    ...(report.cancelled ? ['', 'Cancelled: only what was measured by then.'] : []),
    '',
    row(columns.map(([title]) => title)),
    row(columns.map((_, column) => (column < 2 ? '---' : '--:'))),
    ...results.map((result) => row(columns.map(([, cell]) => cell(result, differences)))),
    '',
    ...[
      ...differences.map(({ is_fault, cause }) => (is_fault ? `**Error:** ${cause}` : cause)),
      ...notes,
      ...where(report),
    ].map((line) => `- ${line}`),
    '',
  ].join('\n');
}

const row = (cells: readonly string[]) =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

function where({ material, machine, model, seed, max_new_tokens, created }: BenchmarkReport): string[] {
  return [
    `${material.name}: ${material.files} files, ${material.indexed_tokens} tokens; seed ${seed}, at most ${max_new_tokens} new tokens, greedy`,
    `${model.name}, ${model.precision}, on ${model.device}`,
    `${machine.cores} x ${machine.cpu}, ${machine.platform}, Node ${machine.node}; ${created.slice(0, 10)}`,
  ];
}
