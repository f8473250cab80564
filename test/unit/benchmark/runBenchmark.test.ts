/** Whole benchmarks of a small random model with random heads of its own. */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { BenchmarkProgress, BenchmarkReport } from '../../../engine/benchmark/benchmarkReport.ts';
import { type BenchmarkOptions, runBenchmark } from '../../../engine/benchmark/runBenchmark.ts';
import { embeddedModelDir } from '../../../engine/embeddedModel.ts';
import { type CheckpointShape, tinyShape, writeRandomCheckpoint } from '../../randomCheckpoint.ts';
import { writeRandomHead } from '../../randomHead.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const scratch = temporaryFolder();
/** As many tokens as the tokenizer has; layers enough for the taps of EAGLE-3. */
const shape: CheckpointShape = { ...tinyShape, vocabSize: 8192, layers: 6 };
const modelDir = writeRandomCheckpoint(join(scratch, 'model'), shape, 1);
for (const file of ['tokenizer.json', 'tokenizer_config.json']) {
  cpSync(join(embeddedModelDir, file), join(modelDir, file));
}
writeRandomHead(join(modelDir, 'heads', 'eagle'), 'eagle', shape, 2);
writeRandomHead(join(modelDir, 'heads', 'eagle3'), 'eagle3', shape, 3);

function bench(overrides: Partial<BenchmarkOptions> = {}): Promise<BenchmarkReport | undefined> {
  return runBenchmark({
    source: { kind: 'workspace', folders: [] },
    modelDir,
    device: 'cpu',
    cacheDir: join(scratch, 'cache'),
    log: () => {},
    speculation: {},
    tasks: 3,
    seed: 1,
    maxNewTokens: 12,
    onProgress: () => {},
    signal: new AbortController().signal,
    ...overrides,
  });
}

test('all that the model can run is compared: each on its own graph, all with the same text', async () => {
  const phases: BenchmarkProgress[] = [];
  const report = (await bench({ onProgress: (progress) => phases.push(progress) }))!;
  assert.deepEqual(report.algorithms, ['none', 'ngram', 'recycle', 'eagle', 'eagle2', 'eagle3', 'auto']);
  assert.match(report.notes.join('\n'), /Left out, .*: standalone, medusa\./);
  assert.deepEqual(report.differences, []);
  const overall = report.results.filter(({ task_class }) => task_class === 'all');
  assert.ok(overall.every(({ lossless, tasks }) => lossless && tasks === 3));
  for (const { algorithm, extra_memory_bytes } of overall) {
    assert.equal(extra_memory_bytes > 0, algorithm !== 'none', algorithm);
  }
  assert.deepEqual(
    new Set(report.traces.map(({ algorithm }) => algorithm)),
    new Set<string>(report.algorithms),
  );
  const { done, total } = phases.at(-1)!;
  assert.deepEqual([done, total], [3 * 7, 3 * 7]);
});

test('what was named has to run, and plain decoding runs beside it', async () => {
  const report = (await bench({ algorithms: ['eagle3', 'eagle3'], tasks: 1 }))!;
  assert.deepEqual(report.algorithms, ['none', 'eagle3']);
  await assert.rejects(bench({ algorithms: ['medusa'] }), { code: 'usage', message: /MEDUSA/ });
});

test('a folder without code, and more new tokens than fit, are refused', async () => {
  const source = { kind: 'folder', path: join(modelDir, 'heads') } as const;
  await assert.rejects(bench({ source }), { code: 'usage', message: /no code here/ });
  await assert.rejects(bench({ maxNewTokens: 400 }), { code: 'usage', message: /400 new tokens/ });
});

test('cancelled at any time, it ends with what is there', async () => {
  for (const phase of ['preparing', 'warmingUp'] as const) {
    const abort = new AbortController();
    const onProgress = (progress: BenchmarkProgress) => progress.phase === phase && abort.abort();
    assert.equal(await bench({ signal: abort.signal, onProgress, algorithms: ['ngram'] }), undefined, phase);
  }
  const abort = new AbortController();
  const onProgress = ({ phase, done }: BenchmarkProgress) =>
    phase === 'measuring' && done === 3 && abort.abort();
  const report = (await bench({ signal: abort.signal, onProgress, algorithms: ['ngram'] }))!;
  assert.equal(report.cancelled, true);
  assert.equal(report.tasks.length, 1);
});
