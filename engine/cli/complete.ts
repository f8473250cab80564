import { basename, extname, normalize, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { TextDocument } from 'vscode-languageserver-textdocument';
import type { Alternative, Completion } from '../completer.ts';
import { alternativeSampling } from '../config.ts';
import { createEngine, type SlipstreamEngine } from '../engine.ts';
import { defaultMaxTokens, devices, type EngineSettings, type Position } from '../protocol.ts';
import type { SamplingSettings } from '../sampling/samplingSettings.ts';
import { characterBoundary } from '../text/characterBoundary.ts';
import { indentationOf } from '../text/indentationOf.ts';
import { promptText } from '../text/promptRender.ts';
import { isInside } from '../workspace/documentId.ts';
import { isSecretPath } from '../workspace/secretFiles.ts';
import { cacheDir, cacheOptions } from './cacheOption.ts';
import type { Command } from './command.ts';
import { type CommandLine, usageError } from './commandLine.ts';
import { type DeviceInUse, deviceDocument, printDeviceNote } from './deviceInUse.ts';
import { readAsEdited, requireFolder } from './files.ts';
import { metricsDocument, metricsLine } from './metricsDocument.ts';
import { modelDir, modelOptions } from './modelOption.ts';
import { printJson, printNote, printText, printWarning } from './output.ts';
import { givenBesideTemperature, samplingOptions, samplingSettings } from './samplingOptions.ts';
import { algorithmName, speculationOptions, speculationSettings } from './speculationOptions.ts';

export const completeCommand: Command = {
  name: 'complete',
  summary: 'Print the suggestion at a place in a file, as the editor would show it.',
  synopsis: '--file FILE --line L --column C [--workspace DIR] [options]',
  options: {
    file: { value: 'FILE', help: 'The file, UTF-8.' },
    line: { value: 'L', help: 'Line of the cursor, from 1.' },
    column: { value: 'C', help: 'Column of the cursor, from 1, in UTF-16 code units.' },
    workspace: { value: 'DIR', help: 'Draft and quote from the files of this folder too. Indexed first.' },
    model: { value: 'DIR', help: `${modelOptions.model.help} Default: the included model.` },
    'model-path': modelOptions['model-path'],
    device: { value: devices.join('|'), help: 'What the model runs on. Default: auto.' },
    'max-prompt-tokens': { value: 'N', help: 'Longest prompt in tokens. Default: what suits the model.' },
    'max-new-tokens': {
      value: 'N',
      help: `Longest suggestion in tokens. Default: ${defaultMaxTokens}.`,
    },
    n: {
      value: 'N',
      help: 'Suggestions at most, each different: the most probable one, then sampled ones. Default: 1.',
    },
    ...samplingOptions(alternativeSampling),
    temperature: {
      value: 'T',
      help: `Sample the first one too, at this temperature. Default for the others: ${alternativeSampling.temperature}.`,
    },
    ...speculationOptions,
    ...cacheOptions,
    'show-prompt': { help: 'Show the prompt too: on stderr, or as "prompt" of the JSON document.' },
    json: {
      help: 'Print {"text", "token_ids", "algorithm", "device", "metrics", ...}; with --n "alternatives" too.',
    },
  },
  async run(line) {
    const request = await parseRequest(line);
    const suggested = await complete(request);
    printDeviceNote(suggested.on);
    if (line.flag('json')) printJson(document(suggested, request, line.flag('show-prompt')));
    else print(suggested, line.flag('show-prompt'));
  },
};

interface CompleteRequest {
  readonly document: TextDocument;
  readonly position: Position;
  readonly workspace: string | undefined;
  readonly settings: EngineSettings;
  readonly count: number;
  /** Of the first suggestion; absent: the most probable one. */
  readonly sampling: SamplingSettings | undefined;
  /** Of the others. */
  readonly alternativeSampling: SamplingSettings;
  readonly cacheDir: string;
}

interface Suggested {
  readonly first: Completion;
  readonly alternatives: readonly Alternative[];
  readonly on: DeviceInUse;
}

async function parseRequest(line: CommandLine): Promise<CompleteRequest> {
  const given = line.requiredText('file');
  const file = resolve(given);
  const at = { line: line.requiredInteger('line', 1), column: line.requiredInteger('column', 1) };
  const workspace = await workspaceOf(line);
  refuseSecret(given, workspace);
  const settings = await parseSettings(line);
  const count = line.integer('n', 1) ?? 1;
  const sampling = samplingSettings(line, alternativeSampling);
  const isSampled = line.text('temperature') !== undefined && sampling.temperature > 0;
  checkSamplingIsOfUse(line, count, isSampled);
  const text = await readAsEdited(file);
  const document = TextDocument.create(pathToFileURL(file).href, extname(file).slice(1), 1, text);
  return {
    document,
    position: positionIn(document, at),
    workspace,
    settings,
    count,
    sampling: isSampled ? sampling : undefined,
    // What was drawn with the first one's seed is the first one.
    alternativeSampling: isSampled ? { ...sampling, seed: sampling.seed + 1 } : sampling,
    cacheDir: cacheDir(line),
  };
}

async function workspaceOf(line: CommandLine): Promise<string | undefined> {
  const workspace = line.text('workspace');
  return workspace === undefined ? undefined : resolve(await requireFolder(workspace));
}

/** As in the editor: by the path below the workspace. Where somebody keeps their work says nothing. */
function refuseSecret(given: string, workspace: string | undefined): void {
  const file = resolve(given);
  const isBelow = workspace !== undefined && isInside(file, workspace);
  if (isSecretPath(isBelow ? relative(workspace, file) : normalize(given))) {
    throw usageError(`--file: ${given} is not completed: its name says that it holds secrets`);
  }
}

function checkSamplingIsOfUse(line: CommandLine, count: number, isFirstSampled: boolean): void {
  const given = givenBesideTemperature(line);
  if (count === 1 && given && !isFirstSampled) {
    throw usageError(`--${given}: one suggestion is not sampled; give --temperature or --n`);
  }
  if (count > 1 && line.text('temperature') !== undefined && !isFirstSampled) {
    throw usageError('--temperature: at 0 there is one suggestion only; leave --n out');
  }
}

async function parseSettings(line: CommandLine): Promise<EngineSettings> {
  const speculation = await speculationSettings(line);
  const model = await modelDir(line);
  const promptTokens = line.integer('max-prompt-tokens', 1);
  return {
    ...speculation,
    device: line.choice('device', devices) ?? 'auto',
    maxTokens: line.integer('max-new-tokens', 1) ?? defaultMaxTokens,
    ...(model !== undefined && { model }),
    ...(promptTokens !== undefined && { promptTokens }),
  };
}

function positionIn(document: TextDocument, { line, column }: { line: number; column: number }): Position {
  if (line > document.lineCount) throw usageError(`--line: the file has ${document.lineCount} lines`);
  const start = { line: line - 1, character: 0 };
  const length = document.getText({ start, end: { line, character: 0 } }).replace(/[\r\n]+$/, '').length;
  if (column > length + 1) throw usageError(`--column: line ${line} ends at column ${length + 1}`);
  const offset = document.offsetAt({ line: line - 1, character: column - 1 });
  if (characterBoundary(document.getText(), offset) !== offset)
    throw usageError(`--column: ${column} is within a character of line ${line}, which takes two columns`);
  return { line: line - 1, character: column - 1 };
}

async function complete(request: CompleteRequest): Promise<Suggested> {
  const { settings, cacheDir, workspace } = request;
  const engine = await createEngine({
    settings,
    cacheDir,
    workspaceFolders: workspace === undefined ? [] : [workspaceFolder(workspace)],
    log: printWarning,
    onIndexProgress: () => {},
    onModelChanged: () => {},
  });
  try {
    return await completeWith(engine, request);
  } finally {
    await engine.dispose();
  }
}

async function completeWith(engine: SlipstreamEngine, request: CompleteRequest): Promise<Suggested> {
  const { document, position, sampling, count, alternativeSampling } = request;
  engine.documentChanged(document);
  await engine.whenIndexed();
  const place = {
    document,
    position,
    indentation: indentationOf(document.getText()),
    openDocuments: [document],
  };
  await engine.gatherContext(place);
  const { signal } = new AbortController();
  const asked = { ...place, onText: () => {} };
  const first = await engine.completeInDetail(asked, signal, sampling);
  const alternatives = await engine.alternativesInDetail(place, {
    count: count - 1,
    known: first.outcome.kind === 'text' ? [first.outcome.text] : [],
    sampling: alternativeSampling,
    withinMs: Number.POSITIVE_INFINITY,
    signal,
  });
  return { first, alternatives, on: engine.facts };
}

function workspaceFolder(path: string) {
  return { uri: pathToFileURL(path).href, name: basename(path), exclude: [] };
}

function document({ first, alternatives, on }: Suggested, request: CompleteRequest, showPrompt: boolean) {
  return {
    ...suggestionDocument(first, request),
    algorithm: algorithmName(request.settings.algorithm),
    ...deviceDocument(on),
    ...(request.count > 1 && {
      alternatives: alternatives.map((alternative) => suggestionDocument(alternative, request)),
    }),
    ...(showPrompt && { prompt: promptText(first.prompt.parts) }),
  };
}

function suggestionDocument(
  { outcome, tokens, metrics, acceptedFrom }: Completion,
  { position }: CompleteRequest,
) {
  return {
    text: outcome.kind === 'text' ? outcome.text : '',
    // What stands after the cursor and is part of the text already.
    replaced_characters: outcome.kind === 'text' ? outcome.range.end.character - position.character : 0,
    ...(outcome.kind === 'empty' && { empty_reason: outcome.reason }),
    token_ids: tokens,
    metrics: { ...metricsDocument(metrics), num_accepted_tokens_per_file: acceptedFrom },
  };
}

function print({ first, alternatives }: Suggested, showPrompt: boolean): void {
  if (showPrompt) printNote(promptText(first.prompt.parts));
  for (const { outcome, metrics } of [first, ...alternatives]) {
    if (outcome.kind === 'text') printText(outcome.text);
    else printNote(`No suggestion: ${outcome.kind === 'empty' ? outcome.reason : 'cancelled'}.`);
    printNote(metricsLine(metrics));
  }
}
