import { resolve } from 'node:path';
import type { BenchmarkProgress } from '../benchmark/benchmarkReport.ts';
import { benchmarkText } from '../benchmark/benchmarkText.ts';
import { type BenchmarkOptions, runBenchmark } from '../benchmark/runBenchmark.ts';
import { embeddedModelDir } from '../embeddedModel.ts';
import { type Algorithm, algorithms, defaultBenchmarkTokens, devices } from '../protocol.ts';
import { cacheDir, cacheOptions } from './cacheOption.ts';
import type { Command } from './command.ts';
import { type CommandLine, usageError } from './commandLine.ts';
import { requireFolder } from './files.ts';
import { INTERRUPTED, Interruption } from './interruption.ts';
import { modelDir, modelOptions } from './modelOption.ts';
import { printNote, printText, printWarning } from './output.ts';
import { showProgress } from './progressLine.ts';
import { reportFile, writeReport } from './reportFile.ts';
import { speculationOptions } from './speculationOptions.ts';

const DEFAULT_TASKS = 40;
const DEFAULT_SEED = 1;

const draftModelOption = 'speculative-draft-model-path';

export const benchCommand: Command = {
  name: 'bench',
  summary:
    'Compare the drafting algorithms on the code of a folder: speed, latency, and that all write the same.',
  synopsis: 'DIR [--algorithms none,ngram,auto] [--tasks N] [--seed S] [--max-new-tokens N] [--json FILE]',
  argument: 'DIR',
  options: {
    algorithms: {
      value: 'NAMES',
      help: `Which to compare, of ${algorithms.join(', ')}. Default: all that the model can run. none is always run.`,
    },
    tasks: { value: 'N', help: `How many places to complete. Default: ${DEFAULT_TASKS}.` },
    seed: { value: 'S', help: `Chooses the places. Default: ${DEFAULT_SEED}.` },
    'max-new-tokens': {
      value: 'N',
      help: `Longest completion in tokens. Default: ${defaultBenchmarkTokens}.`,
    },
    model: { value: 'DIR', help: `${modelOptions.model.help} Default: the included model.` },
    'model-path': modelOptions['model-path'],
    [draftModelOption]: speculationOptions[draftModelOption],
    device: { value: devices.join('|'), help: 'What the model runs on. Default: auto.' },
    ...cacheOptions,
    json: {
      value: 'FILE',
      help: 'Write everything that was measured there; docs/benchmark-json.md has the schema.',
    },
  },
  async run(line) {
    const json = await reportFile(line);
    const interruption = new Interruption();
    try {
      await run(await parseOptions(line, interruption), json);
    } finally {
      interruption.end();
    }
  },
};

async function run(options: BenchmarkOptions, json: string | undefined): Promise<void> {
  const report = await runBenchmark(options).finally(() => showProgress(''));
  if (!report) {
    printNote('Cancelled before anything was measured.');
    process.exitCode = INTERRUPTED;
    return;
  }
  // First: it is there even when the file cannot be written.
  printText(benchmarkText(report));
  if (json !== undefined) writeReport(json, report);
  if (report.cancelled) process.exitCode = INTERRUPTED;
  // What is wrong is told even by a run that was ended early.
  if (report.differences.some(({ is_fault }) => is_fault)) process.exitCode = 1;
}

async function parseOptions(line: CommandLine, interruption: Interruption): Promise<BenchmarkOptions> {
  const named = parseAlgorithms(line);
  const draftModel = line.text(draftModelOption);
  return {
    source: { kind: 'folder', path: resolve(await requireFolder(line.requiredArgument())) },
    modelDir: (await modelDir(line)) ?? embeddedModelDir,
    device: line.choice('device', devices) ?? 'auto',
    cacheDir: cacheDir(line),
    log: printWarning,
    algorithms: named,
    speculation: draftModel === undefined ? {} : { draftModel: await requireFolder(draftModel) },
    tasks: line.integer('tasks', 1) ?? DEFAULT_TASKS,
    seed: line.integer('seed', 0) ?? DEFAULT_SEED,
    maxNewTokens: line.integer('max-new-tokens', 1) ?? defaultBenchmarkTokens,
    onProgress: (progress) => {
      if (progress.phase === 'measuring' && progress.done > 0) interruption.noteResults();
      showProgress(progressText(progress));
    },
    signal: interruption.signal,
  };
}

function parseAlgorithms(line: CommandLine): Algorithm[] | undefined {
  return line
    .text('algorithms')
    ?.split(',')
    .map((text) => {
      const name = text.trim().toLowerCase();
      const algorithm = algorithms.find((known) => known === name);
      if (algorithm) return algorithm;
      throw usageError(`--algorithms: "${text.trim()}" is not one of ${algorithms.join(', ')}`);
    });
}

const BAR_CELLS = 24;

function progressText({ detail, done, total, remainingMs }: BenchmarkProgress): string {
  if (total === 0) return detail;
  const filled = Math.floor((BAR_CELLS * done) / total);
  const bar = '#'.repeat(filled).padEnd(BAR_CELLS, '.');
  const remaining = remainingMs === undefined ? '' : `, ${Math.ceil(remainingMs / 1000)} s left`;
  return `${detail} [${bar}] ${done}/${total}${remaining}`;
}
