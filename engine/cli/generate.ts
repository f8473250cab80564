import { type Precision, precisions } from '../compile/precision.ts';
import { mostThreads } from '../config.ts';
import { type DecodeResult, decode } from '../decode/decoder.ts';
import { Session } from '../decode/session.ts';
import { SlipstreamError } from '../errors.ts';
import { openModel } from '../model/openModel.ts';
import { loadTokenizer, type Tokenizer } from '../model/tokenizer.ts';
import { type Device, devices, type SpeculationSettings } from '../protocol.ts';
import { greedy, type SamplingSettings } from '../sampling/samplingSettings.ts';
import { openSpeculation, type Speculation } from '../speculation/speculation.ts';
import { planSpeculation } from '../speculation/speculationPlan.ts';
import { createVerifier } from '../verify/createVerifier.ts';
import { cacheDir, cacheOptions } from './cacheOption.ts';
import type { Command } from './command.ts';
import { type CommandLine, usageError } from './commandLine.ts';
import { type DeviceInUse, deviceDocument, printDeviceNote } from './deviceInUse.ts';
import { metricsDocument, metricsLine } from './metricsDocument.ts';
import { modelOptions, requiredModelDir } from './modelOption.ts';
import { printJson, printNote, printText, printWarning } from './output.ts';
import { samplingOptions, samplingSettings } from './samplingOptions.ts';
import { checkSequence } from './sequence.ts';
import { algorithmName, speculationOptions, speculationSettings } from './speculationOptions.ts';

export const generateCommand: Command = {
  name: 'generate',
  summary: 'Continue a prompt, raw: no fill-in-the-middle, no stop rules but the end token.',
  synopsis: '--model DIR (--token-ids 1,2,3 | --prompt TEXT) --max-new-tokens N [options]',
  options: {
    ...modelOptions,
    prompt: { value: 'TEXT', help: 'The prompt as text; special tokens in it are text.' },
    'token-ids': { value: 'IDS', help: 'The prompt as token ids separated by commas.' },
    'max-new-tokens': { value: 'N', help: 'How many tokens to generate at most.' },
    device: { value: devices.join('|'), help: 'What the model runs on. Default: auto.' },
    precision: { value: 'P', help: `${precisions.join(', ')}. Default: what suggestions use.` },
    ...samplingOptions(greedy),
    ...speculationOptions,
    'speculative-draft-sampling': {
      help: 'STANDALONE draws its drafts too, instead of taking the best: another text of the same distribution.',
    },
    'ignore-eos': { help: 'Go on after an end token.' },
    ...cacheOptions,
    json: { help: 'Print {"text", "token_ids", "algorithm", "device", "metrics"}.' },
  },
  async run(line) {
    const request = await parseRequest(line);
    const { text, result, on } = await generate(request);
    if (line.flag('json')) {
      printJson({
        text,
        token_ids: result.tokens,
        algorithm: algorithmName(request.drafting.algorithm),
        ...deviceDocument(on),
        metrics: metricsDocument(result.metrics),
      });
    } else {
      printText(text ?? result.tokens.join(','));
      printNote(metricsLine(result.metrics));
    }
  },
};

interface GenerateRequest {
  readonly modelDir: string;
  readonly prompt: { readonly text: string } | { readonly tokenIds: Int32Array };
  readonly maxNewTokens: number;
  readonly device: Device;
  readonly precision: Precision | undefined;
  readonly sampling: SamplingSettings;
  readonly drafting: SpeculationSettings;
  /** Absent: drafts are chosen. */
  readonly draftSampling: SamplingSettings | undefined;
  readonly ignoreEos: boolean;
  readonly cacheDir: string;
}

async function parseRequest(line: CommandLine): Promise<GenerateRequest> {
  const sampling = samplingSettings(line, greedy);
  const drafting = await speculationSettings(line);
  return {
    modelDir: await requiredModelDir(line),
    prompt: parsePrompt(line),
    maxNewTokens: line.requiredInteger('max-new-tokens', 1),
    device: line.choice('device', devices) ?? 'auto',
    precision: line.choice('precision', precisions),
    sampling,
    drafting,
    draftSampling: line.flag('speculative-draft-sampling') ? draftSampling(sampling, drafting) : undefined,
    ignoreEos: line.flag('ignore-eos'),
    cacheDir: cacheDir(line),
  };
}

function draftSampling(sampling: SamplingSettings, { algorithm, eagleTopk }: SpeculationSettings) {
  const option = '--speculative-draft-sampling';
  if (algorithm !== 'standalone') throw usageError(`${option}: only STANDALONE can draw its drafts`);
  if (sampling.temperature === 0) throw usageError(`${option}: nothing is sampled; give --temperature`);
  if ((eagleTopk ?? 1) > 1)
    throw usageError(`${option}: a chain is drawn; leave --speculative-eagle-topk out`);
  return sampling;
}

function parsePrompt(line: CommandLine): GenerateRequest['prompt'] {
  const text = line.text('prompt');
  const tokenIds = line.tokenIds('token-ids');
  if (text !== undefined && tokenIds === undefined) return { text };
  if (tokenIds !== undefined && text === undefined) return { tokenIds };
  throw usageError('give either --prompt or --token-ids');
}

interface Generated {
  /** null: of a model without a tokenizer. */
  readonly text: string | null;
  readonly result: DecodeResult;
  readonly on: DeviceInUse;
}

async function generate(request: GenerateRequest): Promise<Generated> {
  const { modelDir, precision, maxNewTokens, sampling, drafting } = request;
  const tokenizer = await findTokenizer(request);
  const plan = await planSpeculation(drafting, modelDir);
  if (plan.note) printNote(plan.note);
  const {
    model,
    costTable,
    threads = mostThreads,
    deviceNote,
  } = await openModel(modelDir, {
    device: request.device,
    cacheDir: request.cacheDir,
    threads: mostThreads,
    log: printWarning,
    ...(precision && { precision }),
    ...plan.outputs,
  });
  const on = { device: model.info.device, deviceNote };
  printDeviceNote(on);
  let session: Session | undefined;
  let speculation: Speculation | undefined;
  try {
    const tokens = promptTokens(request, tokenizer);
    checkSequence('text' in request.prompt ? 'prompt' : 'token-ids', tokens, maxNewTokens, model.info);
    session = new Session(model.createKvCache(tokens.length), model.info);
    speculation = await openSpeculation(plan, {
      target: { model, costTable, tokenizer },
      draftSampling: request.draftSampling,
      cacheDir: request.cacheDir,
      threads,
      log: printWarning,
    });
    const result = await decode(
      session,
      { ...speculation, verifier: createVerifier(sampling) },
      {
        prompt: { tokens, prefix: { start: 0, end: tokens.length }, suffix: { start: 0, end: 0 } },
        maxNewTokens,
        endTokens: new Set(request.ignoreEos ? [] : model.info.eosTokenIds),
        onToken: () => 'continue',
        signal: new AbortController().signal,
      },
    );
    return { text: tokenizer ? tokenizer.decode(result.tokens) : null, result, on };
  } finally {
    await speculation?.dispose();
    session?.dispose();
    await model.dispose();
  }
}

/** Token ids need no tokenizer: a model folder without one still generates. */
async function findTokenizer({ modelDir, prompt }: GenerateRequest): Promise<Tokenizer | undefined> {
  try {
    return await loadTokenizer(modelDir);
  } catch (error) {
    const missing = error instanceof SlipstreamError && error.code === 'model.notFound';
    if (missing && 'tokenIds' in prompt) return undefined;
    throw error;
  }
}

function promptTokens({ prompt }: GenerateRequest, tokenizer: Tokenizer | undefined): Int32Array {
  if ('tokenIds' in prompt) return prompt.tokenIds;
  const { bosTokenId } = tokenizer!;
  return Int32Array.from([
    ...(bosTokenId === undefined ? [] : [bosTokenId]),
    ...tokenizer!.encode(prompt.text),
  ]);
}
