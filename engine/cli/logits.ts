import { compileModel } from '../compile/compileModel.ts';
import { precisions, runsOn } from '../compile/precision.ts';
import { mostThreads } from '../config.ts';
import { openCpuModel } from '../model/cpuModel.ts';
import type { LanguageModel } from '../model/languageModel.ts';
import { cacheDir, cacheOptions } from './cacheOption.ts';
import type { Command } from './command.ts';
import { type CommandLine, usageError } from './commandLine.ts';
import { modelOptions, requiredModelDir } from './modelOption.ts';
import { printJson } from './output.ts';
import { checkSequence } from './sequence.ts';

/** Tokens a pass: the attention mask of a pass is square in them. */
const CHUNK = 256;

const onCpu = precisions.filter((precision) => runsOn('cpu', precision));

export const logitsCommand: Command = {
  name: 'logits',
  summary: "Print a model's logits at the last positions of a token sequence.",
  synopsis: '--model DIR --token-ids 1,2,3 --last K [--precision P] --json',
  options: {
    ...modelOptions,
    'token-ids': { value: 'IDS', help: 'The sequence: token ids separated by commas.' },
    last: { value: 'K', help: 'How many positions, counted from the end.' },
    precision: { value: 'P', help: `${onCpu.join(', ')}. Default: fp32.` },
    ...cacheOptions,
    json: { help: 'Print {"token_ids": [...], "logits": [[...], ...]}; the only form.' },
  },
  async run(line) {
    const modelDir = await requiredModelDir(line);
    const tokens = line.requiredTokenIds('token-ids');
    const last = line.requiredInteger('last', 1);
    if (last > tokens.length) throw usageError(`--last: there are only ${tokens.length} token ids`);
    const model = await openModel(modelDir, line);
    try {
      checkSequence('token-ids', tokens, 0, model.info);
      printJson({ token_ids: [...tokens], logits: await lastLogits(model, tokens, last) });
    } finally {
      await model.dispose();
    }
  },
};

async function openModel(modelDir: string, line: CommandLine): Promise<LanguageModel> {
  const precision = line.choice('precision', onCpu) ?? 'fp32';
  const compiled = await compileModel(modelDir, { precision, taps: [], cacheDir: cacheDir(line) });
  return openCpuModel(compiled, mostThreads);
}

/** @returns [last, vocab] */
async function lastLogits(model: LanguageModel, tokens: Int32Array, last: number): Promise<number[][]> {
  const cache = model.createKvCache(tokens.length);
  const wantedFrom = tokens.length - last;
  const result: number[][] = [];
  try {
    for (let start = 0; start < tokens.length; ) {
      // No deeper than what gives each token the logits that decoding gives it, bit for bit.
      const chunk = tokens.subarray(start, start + Math.min(CHUNK, cache.exactDepth));
      const first = Math.max(0, wantedFrom - start);
      const rows = Int32Array.from({ length: Math.max(0, chunk.length - first) }, (_, i) => first + i);
      const { logits } = await cache.forward({ tokens: chunk, rows, want: 'logits' });
      result.push(...splitRows(logits!, model.info.vocabSize));
      await cache.commit(Int32Array.from(chunk.keys()));
      start += chunk.length;
    }
  } finally {
    cache.dispose();
  }
  return result;
}

function splitRows(logits: Float32Array, vocabSize: number): number[][] {
  return Array.from({ length: logits.length / vocabSize }, (_, row) =>
    Array.from(logits.subarray(row * vocabSize, (row + 1) * vocabSize)),
  );
}
