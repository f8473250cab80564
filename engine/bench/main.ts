/**
 * `npm run bench`: each figure of the engine beside its baseline, both measured in this run on this machine.
 * See docs/benchmarks.md.
 */
import { cacheDir, cacheOptions } from '../cli/cacheOption.ts';
import { type Command, commandHelp } from '../cli/command.ts';
import { CommandLine } from '../cli/commandLine.ts';
import { showProgress } from '../cli/progressLine.ts';
import { reportFile, writeReport } from '../cli/reportFile.ts';
import { mostThreads } from '../config.ts';
import { embeddedModelDir } from '../embeddedModel.ts';
import { SlipstreamError } from '../errors.ts';
import { busyWarning, describeMachine, machineText } from '../machine.ts';
import { ModelRuntime } from '../modelRuntime.ts';
import { measureBlend } from './blendAblation.ts';
import type { BenchContext } from './context.ts';
import { measureDepth } from './depth.ts';
import { measureGpu } from './gpu.ts';
import { measureHumanEval } from './humanEval.ts';
import { measureIndex } from './indexSection.ts';
import { measureMicro } from './microSection.ts';
import { measurePeer } from './peerSpeculation.ts';
import { measurePlainDecoding } from './plainDecoding.ts';
import { measureQuality } from './quality.ts';
import { type Section, sectionText } from './report.ts';
import { measureSpeculation } from './speculation.ts';
import { measureTyping } from './typing.ts';
import { measureVsCode } from './vscodeSection.ts';

const sections = {
  decode: (context: BenchContext) => withRuntime(context, measurePlainDecoding),
  speculation: measureSpeculation,
  peer: measurePeer,
  blend: measureBlend,
  depth: measureDepth,
  typing: measureTyping,
  quality: measureQuality,
  humaneval: measureHumanEval,
  index: measureIndex,
  micro: measureMicro,
  gpu: measureGpu,
  vscode: measureVsCode,
};
type SectionName = keyof typeof sections;
/**
 * Asked for by name: quality and the peer take minutes, humaneval needs its file and runs what the model writes,
 * VS Code needs a browser and minutes, the GPU has to be there.
 */
const defaultSections: readonly SectionName[] = [
  'decode',
  'speculation',
  'depth',
  'typing',
  'index',
  'micro',
];

const DEFAULT_SEED = 1;
const DEFAULT_TASKS_PER_CLASS = 8;

const command: Command = {
  name: 'bench',
  summary: 'Measure the engine on this machine, each figure beside its baseline.',
  synopsis: `[${Object.keys(sections).join('|')}] [options]`,
  argument: 'SECTION',
  options: {
    seed: { value: 'N', help: `Chooses the tasks. Default: ${DEFAULT_SEED}.` },
    tasks: { value: 'N', help: `Tasks of each class in each package. Default: ${DEFAULT_TASKS_PER_CLASS}.` },
    'human-eval': { value: 'FILE', help: 'HumanEval.jsonl, for the section humaneval.' },
    json: { value: 'FILE', help: 'Write everything that was measured there.' },
    ...cacheOptions,
  },
  async run(line) {
    const names = chosenSections(line);
    const json = await reportFile(line);
    const context: BenchContext = {
      modelDir: embeddedModelDir,
      cacheDir: cacheDir(line),
      seed: line.integer('seed', 0) ?? DEFAULT_SEED,
      tasksPerClass: line.integer('tasks', 1) ?? DEFAULT_TASKS_PER_CLASS,
      humanEvalFile: line.text('human-eval'),
      progress: showProgress,
    };
    const machine = describeMachine();
    console.log(machineText(machine));
    const warning = busyWarning(machine);
    if (warning) console.log(`WARNING: ${warning}`);
    console.log();
    const results: Section[] = [];
    for (const name of names) {
      const section = await sections[name](context).catch((error) => failedSection(name, error));
      showProgress('');
      console.log(sectionText(section));
      results.push(section);
      if (json !== undefined) writeReport(json, { machine, seed: context.seed, sections: results });
    }
    if (results.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
  },
};

/** One that cannot run here, such as a peer that cannot be installed, does not take the others' figures along. */
function failedSection(name: SectionName, error: unknown): Section {
  if (!(error instanceof SlipstreamError) || error.code === 'usage') throw error;
  return { title: name, figures: [], notes: [], faults: [error.message], details: undefined };
}

function chosenSections(line: CommandLine): readonly SectionName[] {
  const name = line.argument();
  if (name === undefined) return defaultSections;
  if (Object.hasOwn(sections, name)) return [name as SectionName];
  throw new SlipstreamError('usage', `"${name}" is not one of ${Object.keys(sections).join(', ')}`);
}

async function withRuntime(
  context: BenchContext,
  measure: (runtime: ModelRuntime, context: BenchContext) => Promise<Section>,
): Promise<Section> {
  const { modelDir, cacheDir } = context;
  const options = { device: 'cpu', cacheDir, threads: mostThreads, log: () => {} } as const;
  const runtime = await ModelRuntime.load(modelDir, options);
  try {
    return await measure(runtime, context);
  } finally {
    await runtime.dispose();
  }
}

try {
  const line = new CommandLine(command, process.argv.slice(2));
  if (line.flag('help')) process.stdout.write(commandHelp(command));
  else await command.run(line);
} catch (error) {
  if (!(error instanceof SlipstreamError)) throw error;
  console.error(`bench: ${error.message}`);
  process.exitCode = error.code === 'usage' ? 2 : 1;
}
