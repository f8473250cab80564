import { resolve } from 'node:path';
import { evalText } from '../eval/evalText.ts';
import { type EvalJob, type EvalProgress, evaluate } from '../eval/evaluate.ts';
import { defaultMaxTokens, devices } from '../protocol.ts';
import { cacheDir, cacheOptions } from './cacheOption.ts';
import type { Command } from './command.ts';
import type { CommandLine } from './commandLine.ts';
import { requireFolder } from './files.ts';
import { Interruption } from './interruption.ts';
import { modelDir, modelOptions } from './modelOption.ts';
import { printText, printWarning } from './output.ts';
import { showProgress } from './progressLine.ts';
import { reportFile, writeReport } from './reportFile.ts';

const DEFAULT_TASKS = 200;
const DEFAULT_SEED = 1;

export const evalCommand: Command = {
  name: 'eval',
  summary: 'Measure how good suggestions are: places in the code of a folder are held back and completed.',
  synopsis: 'DIR [--tasks N] [--seed S] [--no-context] [--json FILE] [options]',
  argument: 'DIR',
  options: {
    tasks: { value: 'N', help: `How many places. Default: ${DEFAULT_TASKS}.` },
    seed: { value: 'S', help: `Chooses the places. Default: ${DEFAULT_SEED}.` },
    'no-context': { help: "Give the model no context from the folder's other files." },
    model: { value: 'DIR', help: `${modelOptions.model.help} Default: the included model.` },
    'model-path': modelOptions['model-path'],
    device: { value: devices.join('|'), help: 'What the model runs on. Default: auto.' },
    ...cacheOptions,
    json: { value: 'FILE', help: 'Write results and tasks there; docs/eval.md has the schema.' },
  },
  async run(line) {
    const job = await parseJob(line);
    const json = await reportFile(line);
    const interruption = new Interruption();
    try {
      const report = await evaluate(job).finally(() => showProgress(''));
      // First: it is there even when the file cannot be written.
      printText(evalText(report));
      if (json !== undefined) writeReport(json, report);
    } finally {
      interruption.end();
    }
  },
};

async function parseJob(line: CommandLine): Promise<EvalJob> {
  const model = await modelDir(line);
  return {
    folder: resolve(await requireFolder(line.requiredArgument())),
    taskCount: line.integer('tasks', 1) ?? DEFAULT_TASKS,
    seed: line.integer('seed', 0) ?? DEFAULT_SEED,
    context: line.flag('no-context') ? 'none' : 'workspace',
    settings: {
      algorithm: 'auto',
      device: line.choice('device', devices) ?? 'auto',
      maxTokens: defaultMaxTokens,
      ...(model !== undefined && { model }),
    },
    cacheDir: cacheDir(line),
    log: printWarning,
    onProgress: (progress) => showProgress(progressText(progress)),
  };
}

function progressText(progress: EvalProgress): string {
  if (progress.step === 'completing') return `Completing ${progress.done + 1} of ${progress.total}`;
  return progress.step === 'sampling' ? 'Choosing places' : 'Loading the model and the workspace';
}
