import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AlgorithmResult, BenchmarkReport } from '../../../engine/benchmark/benchmarkReport.ts';
import { benchmarkText } from '../../../engine/benchmark/benchmarkText.ts';

const spread = { p50: 20, p90: 41.2, p99: 55.9, max: 60 };
const none: AlgorithmResult = {
  algorithm: 'none',
  task_class: 'all',
  tasks: 12,
  completion_tokens: 300,
  tokens_per_s: 480.4,
  speedup: 1,
  speedup_ci: [1, 1],
  mean_acceptance_length: 1,
  acceptance_rate: 0,
  num_drafts: 0,
  num_draft_tokens: 0,
  num_accepted_tokens: 0,
  accepted_per_pos: [],
  acceptance_rate_per_pos: [],
  accepted_per_source: {},
  ttft_ms: { ...spread, p50: 3.14 },
  latency_ms: spread,
  draft_ms: 0,
  verify_ms: 2,
  prefilled_tokens: 2,
  exact_match: 0.25,
  edit_similarity: 0.506,
  lossless: true,
  extra_memory_bytes: 0,
  efficiency: 1,
};
const auto: AlgorithmResult = {
  ...none,
  algorithm: 'auto',
  speedup: 2.714,
  speedup_ci: [2.5, 2.913],
  mean_acceptance_length: 3.456,
  acceptance_rate: 0.5,
  num_drafts: 10,
  num_draft_tokens: 40,
  num_accepted_tokens: 20,
  extra_memory_bytes: 3.5 * 2 ** 20,
};

const report: BenchmarkReport = {
  schema_version: 1,
  created: '2026-01-01T00:00:00.000Z',
  seed: 7,
  max_new_tokens: 64,
  cancelled: false,
  material: { kind: 'folder', name: 'harbour', files: 9, indexed_tokens: 2838, index_bytes: 1 },
  machine: { cpu: 'A CPU', cores: 2, memory_bytes: 1, platform: 'linux-x64', node: '20.20.2', load: 0 },
  model: {
    name: 'tiny',
    family: 'llama',
    precision: 'int8',
    device: 'cpu',
    weight_bytes: 1,
    context_length: 512,
    vocab_size: 8192,
    cost_table: { node_counts: [1], contexts: [128], ms: [[1]] },
  },
  algorithms: ['none', 'auto'],
  tasks: [],
  results: [
    none,
    { ...none, task_class: 'block', tasks: 6 },
    auto,
    { ...auto, task_class: 'block', tasks: 6 },
  ],
  runs: [],
  differences: [],
  traces: [],
  fastest: 'auto',
  summary: 'auto is 2.7x faster than plain decoding here.',
  notes: ['A note.'],
};

test('the classes stand one below the other, each with its algorithms', () => {
  const lines = benchmarkText(report).split('\n');
  assert.deepEqual(
    lines.slice(1, 5).map((line) => line.replaceAll(/ {2,}/g, ' | ')),
    [
      'all (12) | none | 480 | 1.00x | 1.00 | 3.1 | 20 | 41 | 56 | 25 % | 51 %',
      ' | auto | 480 | 2.71x | [2.50, 2.91] | 3.46 | 50 % | 3.1 | 20 | 41 | 56 | 25 % | 51 % | +3.5 MiB',
      'block (6) | none | 480 | 1.00x | 1.00 | 3.1 | 20 | 41 | 56 | 25 % | 51 %',
      ' | auto | 480 | 2.71x | [2.50, 2.91] | 3.46 | 50 % | 3.1 | 20 | 41 | 56 | 25 % | 51 % | +3.5 MiB',
    ],
  );
  assert.equal(lines.at(-1), report.summary);
  assert.ok(lines.includes('A note.'));
  assert.ok(!lines.some((line) => /ERROR|Cancelled/.test(line)));
});

test('differences are errors, and a cancelled run says so', () => {
  const difference = {
    task: 0,
    algorithm: 'auto',
    position: 3,
    expected: null,
    actual: null,
    is_fault: true,
  } as const;
  const text = benchmarkText({
    ...report,
    cancelled: true,
    differences: [{ ...difference, cause: 'auto wrote "x".' }],
  });
  assert.match(text, /^ERROR auto wrote "x"\.$/m);
  assert.match(text, /^Cancelled: /m);
});
