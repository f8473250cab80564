import { type DoctorReport, examine } from '../doctor.ts';
import { passMs } from '../model/costTable.ts';
import { type AlgorithmFacts, devices } from '../protocol.ts';
import { cacheDir, cacheOptions } from './cacheOption.ts';
import type { Command } from './command.ts';
import { modelDir, modelOptions } from './modelOption.ts';
import { printJson, printText, printWarning } from './output.ts';
import { algorithmName } from './speculationOptions.ts';

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Show what was found on this machine, what suggestions will run on, and why.',
  synopsis: '[--model DIR] [--device D] [--json]',
  options: {
    ...modelOptions,
    device: { value: devices.join('|'), help: 'What the model should run on. Default: auto.' },
    ...cacheOptions,
    json: { help: 'Print one JSON document.' },
  },
  async run(line) {
    const report = await examine({
      modelDir: await modelDir(line),
      device: line.choice('device', devices) ?? 'auto',
      cacheDir: cacheDir(line),
      log: printWarning,
    });
    if (line.flag('json')) printJson(document(report));
    else printText(describe(report));
  },
};

function document(report: DoctorReport) {
  const { machine, runtime, adapters, webgpu, model, threads, costTable, cacheDir, algorithms, reasons } =
    report;
  return {
    machine: {
      platform: machine.platform,
      cpu: machine.cpu,
      cores: machine.cores,
      memory_bytes: machine.memoryBytes,
      free_memory_bytes: machine.freeMemoryBytes,
      node: machine.node,
    },
    onnxruntime: runtime,
    adapters,
    webgpu,
    model: {
      dir: model.dir,
      name: model.name,
      family: model.family,
      fim_format: model.fimFormat,
      precision: model.precision,
      device: model.device,
      weight_bytes: model.weightBytes,
      context_length: model.contextLength,
      vocab_size: model.vocabSize,
    },
    threads,
    cost_table: { node_counts: costTable.nodeCounts, contexts: costTable.contexts, ms: costTable.ms },
    cache_dir: cacheDir,
    algorithms: algorithms.map(({ algorithm, ...facts }) => ({
      algorithm: algorithmName(algorithm),
      ...facts,
    })),
    reasons,
  };
}

function describe({
  machine,
  runtime,
  adapters,
  webgpu,
  model,
  threads,
  costTable,
  cacheDir,
  algorithms,
  reasons,
}: DoctorReport): string {
  const rows: [string, string][] = [
    ['Machine', machine.platform],
    ['Processor', `${machine.cpu}, ${machine.cores} cores, ${threads} used`],
    ['Memory', `${gigabytes(machine.memoryBytes)}, ${gigabytes(machine.freeMemoryBytes)} free`],
    ['Node', machine.node],
    ['Runtime', `onnxruntime ${runtime.version} (${choosable(runtime.backends)})`],
    ['Graphics', adapters.length > 0 ? adapters.join(', ') : 'no adapter'],
    ['WebGPU', webgpu.usable ? 'a usable adapter' : webgpu.reason],
    ['Model', model.dir],
    ['', `${model.family}, ${megabytes(model.weightBytes)} of weights, context ${model.contextLength}`],
    ['', `fill-in-the-middle format: ${model.fimFormat}`],
    ['Will use', reasons[0]],
    ...reasons.slice(1).map((reason): [string, string] => ['', reason]),
    ['Cache', cacheDir],
    ['Drafts', names(algorithms.filter(({ missing }) => missing === undefined))],
    ...algorithms.flatMap(lack).map((lacking): [string, string] => ['', lacking]),
    ...costTable.contexts.map((context, i): [string, string] => [
      i === 0 ? 'Cost' : '',
      `${costTable.nodeCounts.map((nodes) => `${nodes}: ${passMs(costTable, nodes, context).toFixed(1)}`).join('  ')} ms a pass of n tokens after ${context}`,
    ]),
  ];
  return rows.map(([left, right]) => left.padEnd(11) + right).join('\n');
}

function names(algorithms: readonly AlgorithmFacts[]): string {
  return algorithms.map(({ algorithm }) => algorithmName(algorithm)).join(', ');
}

/** Why an algorithm cannot draft for the model, if it cannot. */
function lack({ algorithm, missing }: AlgorithmFacts): string[] {
  return missing === undefined ? [] : [`not ${algorithmName(algorithm)}: ${missing}`];
}

/** The runtime has others (CUDA, TensorRT) that Slipstream does not use. */
function choosable(backends: readonly string[]): string {
  return devices.filter((device) => backends.includes(device)).join(', ');
}

const gigabytes = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
