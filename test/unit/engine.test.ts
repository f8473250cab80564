/** The engine in this process, on the embedded model and the sample workspace. */
import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { LastSuggestion } from '../../engine/draft/lastSuggestion.ts';
import { embeddedModelDir } from '../../engine/embeddedModel.ts';
import { createEngine, type SlipstreamEngine } from '../../engine/engine.ts';
import { SlipstreamError } from '../../engine/errors.ts';
import type { ModelRuntime } from '../../engine/modelRuntime.ts';
import type { EngineSettings, ModelFacts, Position } from '../../engine/protocol.ts';
import { DocumentSyntax } from '../../engine/syntax/documentSyntax.ts';
import { loadSyntax } from '../../engine/syntax/syntax.ts';
import { tinyShape, writeRandomCheckpoint } from '../randomCheckpoint.ts';
import { temporaryFolder } from '../temporaryFolder.ts';
import { sampleDocument, sampleText, sampleWorkspace } from './sampleWorkspace.ts';

const cacheDir = temporaryFolder();
const settings: EngineSettings = { algorithm: 'auto', device: 'cpu', maxTokens: 32 };
const never = new AbortController().signal;

async function startEngine(
  changed: Partial<EngineSettings> = {},
  onModelChanged: (facts: ModelFacts) => void = () => {},
): Promise<SlipstreamEngine> {
  const engine = await createEngine({
    settings: { ...settings, ...changed },
    cacheDir,
    workspaceFolders: [sampleWorkspace],
    log: () => {},
    onIndexProgress: () => {},
    onModelChanged,
  });
  await engine.whenIndexed();
  return engine;
}

function request(document: TextDocument, position: Position, onText: (text: string) => void = () => {}) {
  return {
    document,
    position,
    indentation: { insertSpaces: true, tabSize: 2 },
    openDocuments: [document],
    onText,
  };
}

/** Where the text after the first occurrence of `text` begins. */
function after(document: TextDocument, text: string): Position {
  return document.positionAt(document.getText().indexOf(text) + text.length);
}

const bookings = sampleDocument('src/bookings.ts');
const places: [TextDocument, Position][] = [
  [bookings, after(bookings, 'if (!removed) {\n    throw new Http')],
  [bookings, after(bookings, 'const limit = ')],
  [bookings, { line: 0, character: 0 }],
  [bookings, { line: 10_000, character: 0 }],
  [sampleDocument('src/new.ts', ''), { line: 0, character: 0 }],
  [sampleDocument('src/crlf.ts', 'function add(a, b) {\r\n  return \r\n}\r\n'), { line: 1, character: 9 }],
  [sampleDocument('src/odd.ts', 'const 名前 = "👩‍👩‍👧";\n\ud800 = '), { line: 1, character: 4 }],
];

/** Once what the workspace gives to the prompt is there: before that, a prompt may change between two requests. */
async function completeAt(engine: SlipstreamEngine, [document, position]: [TextDocument, Position]) {
  const asked = request(document, position);
  engine.documentChanged(document);
  await engine.gatherContext(asked);
  const result = await engine.complete(asked, never);
  return result.kind === 'completion' ? { text: result.text, range: result.range } : result;
}

/** Each place twice: the second time, what was suggested is there as a draft. */
async function completeEverywhere(changed: Partial<EngineSettings>) {
  const engine = await startEngine(changed);
  const outcomes: unknown[] = [];
  for (const place of places) {
    const first = await completeAt(engine, place);
    assert.deepEqual(await completeAt(engine, place), first, 'asked again');
    outcomes.push(first);
  }
  await engine.dispose();
  return outcomes;
}

test('suggestions are the same with every algorithm and number of draft tokens', async () => {
  const expected = await completeEverywhere({ algorithm: 'none' });
  assert.match(JSON.stringify(expected), /Error\(/);
  for (const changed of [
    { algorithm: 'auto' as const },
    { algorithm: 'ngram' as const },
    { numDraftTokens: 1 },
    { numDraftTokens: 64 },
  ]) {
    assert.deepEqual(await completeEverywhere(changed), expected, JSON.stringify(changed));
  }
});

test('settings take effect on a running engine and do not change what is suggested', async () => {
  const engine = await startEngine({ algorithm: 'none' });
  const expected = await completeAt(engine, places[0]);
  for (const changed of [{}, { algorithm: 'ngram' as const }, { numDraftTokens: 64 }]) {
    await engine.setSettings({ ...settings, ...changed });
    assert.deepEqual(await completeAt(engine, places[0]), expected, JSON.stringify(changed));
  }
  await engine.dispose();
});

test('a completion replaces a range on the line of the cursor, and says what it cost', async () => {
  const engine = await startEngine();
  const [[document, position]] = places;
  let shown = '';
  const result = await engine.complete(
    request(document, position, (text) => {
      shown = text;
    }),
    never,
  );
  assert.ok(result.kind === 'completion', JSON.stringify(result));
  assert.deepEqual(result.range.start.line, position.line);
  assert.equal(result.range.end.line, position.line);
  assert.ok(shown.startsWith(result.text.slice(0, 5)), `${shown} | ${result.text}`);
  const { metrics } = result;
  assert.ok(metrics.promptTokens > 50 && metrics.prefilledTokens === metrics.promptTokens);
  assert.ok(metrics.completionTokens > 0 && metrics.tokensPerS > 0);
  assert.ok(engine.lastPrompt()?.includes('deleteBooking'));
  await engine.dispose();
});

/** The sample's files one after the other, several times: a prompt of full length. */
function longText(): string {
  const files = ['src/berths.ts', 'src/boats.ts', 'src/bookings.ts', 'src/database.ts']
    .map(sampleText)
    .join('\n');
  return `${files}\n${files}\n${files}`;
}

test('a typed character prefills a handful of tokens, not the prompt', async () => {
  const engine = await startEngine({ maxTokens: 4, promptTokens: 1400 });
  const typed = '\nexport function freeBerths(): Berth[] {\n  return berths.all().filter(';
  let text = longText();
  const prefilled: number[] = [];
  let prompt = 0;
  for (const [i, character] of [...typed].entries()) {
    text += character;
    const document = sampleDocument('src/long.ts', text, i + 1);
    engine.documentChanged(document);
    const asked = request(document, document.positionAt(text.length));
    if (i === 0) await engine.gatherContext(asked);
    const { metrics } = await engine.completeInDetail(asked, never);
    prefilled.push(metrics.prefilledTokens);
    prompt = metrics.promptTokens;
  }
  assert.ok(prompt > 500, `${prompt} tokens of prompt`);
  assert.equal(Math.max(...prefilled.slice(1)) <= 8, true, `${prefilled}`);
  await engine.dispose();
});

test('prepared where the cursor rests, the first key prefills a handful of tokens and writes the same', async () => {
  const text = longText();
  const resting = sampleDocument('src/long.ts', text);
  const typed = sampleDocument('src/long.ts', `${text}e`, 2);
  const asked = request(typed, typed.positionAt(text.length + 1));
  const unprepared = await startEngine({ promptTokens: 1400 });
  await unprepared.gatherContext(asked);
  const expected = await unprepared.completeInDetail(asked, never);
  await unprepared.dispose();

  const engine = await startEngine({ promptTokens: 1400 });
  const evaluated = await engine.prepare(request(resting, resting.positionAt(text.length)), never);
  assert.ok(evaluated > 500, `${evaluated} tokens evaluated ahead`);
  const { tokens, metrics } = await engine.completeInDetail(asked, never);
  assert.deepEqual(tokens, expected.tokens);
  assert.ok(metrics.prefilledTokens <= 16, `${metrics.prefilledTokens} tokens after the key`);
  assert.equal(await engine.prepare(asked, never), 0, 'what a completion evaluated is there');
  await engine.dispose();
});

/** Calls back before every pass of the engine's model, with the tokens that it evaluates; the pass waits for it. */
function watchPasses(
  { runtime: { model } }: SlipstreamEngine,
  onPass: (tokens: number) => void | Promise<void>,
): void {
  const createKvCache = model.createKvCache.bind(model);
  model.createKvCache = (capacity) => {
    const kv = createKvCache(capacity);
    const forward = kv.forward.bind(kv);
    kv.forward = async (batch) => {
      await onPass(batch.tokens.length);
      return forward(batch);
    };
    return kv;
  };
}

test('a long prompt is left with the pass under way after a cancel, and goes on where it was left', async () => {
  const engine = await startEngine({ promptTokens: 1400 });
  const text = longText();
  const document = sampleDocument('src/long.ts', text);
  const asked = request(document, document.positionAt(text.length));
  await engine.gatherContext(asked);
  const whole = await engine.completeInDetail(asked, never);
  await engine.dispose();

  const other = await startEngine({ promptTokens: 1400 });
  await other.gatherContext(asked);
  const abort = new AbortController();
  // Counted, not timed: how long a pass takes depends on what else the machine does.
  const passes: number[] = [];
  watchPasses(other, (tokens) => {
    passes.push(tokens);
    if (passes.length === 3) abort.abort();
  });
  assert.deepEqual(await other.complete(asked, abort.signal), { kind: 'cancelled' });
  assert.equal(passes.length, 3, `passes of ${passes} tokens, the cancel in the third`);
  const evaluated = passes.reduce((sum, tokens) => sum + tokens);
  assert.ok(evaluated <= 8 + 16 + 32, `${passes} tokens at once, before it is known how long they take`);
  const again = await other.completeInDetail(asked, never);
  assert.equal(again.metrics.prefilledTokens, whole.metrics.prefilledTokens - evaluated);
  assert.deepEqual(again.tokens, whole.tokens);
  await other.dispose();
});

test('a document is parsed when all passes are over, and not for a suggestion that is called off', async (context) => {
  const engine = await startEngine({ algorithm: 'none', maxTokens: 4 });
  const done: ('pass' | 'parse')[] = [];
  watchPasses(engine, () => void done.push('pass'));
  const { update } = DocumentSyntax.prototype;
  context.mock.method(DocumentSyntax.prototype, 'update', function (this: DocumentSyntax, text: string) {
    done.push('parse');
    update.call(this, text);
  });
  const [[document, position]] = places;
  await loadSyntax('typescript');
  const abort = new AbortController();
  await engine.complete(
    request(document, position, () => abort.abort()),
    abort.signal,
  );
  assert.ok(!done.includes('parse'), `${done}`);
  const { metrics } = await engine.completeInDetail(request(document, position), never);
  assert.ok(metrics.numSteps > 0);
  assert.equal(done.filter((what) => what === 'parse').length, 1);
  assert.equal(done.at(-1), 'parse', `${done}`);
  await engine.dispose();
});

test('a suggestion that is called off is recorded before the one that waits for it begins', async (context) => {
  const engine = await startEngine();
  const done: string[] = [];
  for (const name of ['begin', 'attach', 'record'] as const) {
    const method: (...given: never[]) => void = LastSuggestion.prototype[name];
    context.mock.method(LastSuggestion.prototype, name, function (this: LastSuggestion, ...given: never[]) {
      done.push(name);
      method.apply(this, given);
    });
  }
  const [[document, position]] = places;
  const abort = new AbortController();
  let next: Promise<unknown> | undefined;
  const first = await engine.complete(
    request(document, position, () => {
      abort.abort();
      next ??= engine.complete(request(document, position), never);
    }),
    abort.signal,
  );
  await next;
  assert.deepEqual(first, { kind: 'cancelled' });
  assert.deepEqual(done, ['begin', 'attach', 'record', 'begin', 'attach', 'record']);
  await engine.dispose();
});

test('a device that is lost is left once, however many requests it fails, and the CPU goes on', async () => {
  const changes: ModelFacts[] = [];
  const engine = await startEngine({ device: 'auto' }, (facts) => changes.push(facts));
  const [document, position] = places[0];
  const lost = engine.runtime;
  lose(lost);
  const asked = [
    engine.complete(request(document, position), never),
    engine.prepare(request(document, position), never),
  ];
  for (const failed of await Promise.allSettled(asked)) assert.equal(failed.status, 'rejected');
  assert.equal(changes.length, 1);
  assert.match(changes[0].deviceNote ?? '', /unplugged/);
  assert.notEqual(engine.runtime, lost);
  assert.ok('text' in (await completeAt(engine, places[0])));
  await engine.dispose();
});

/** As if it had been a GPU that is gone. */
function lose({ model }: ModelRuntime): void {
  Object.defineProperty(model, 'info', { value: { ...model.info, device: 'webgpu' } });
  model.createKvCache = () => {
    throw new SlipstreamError('device.lost', 'The graphics processor was unplugged.');
  };
}

test('a request that is cancelled before it begins costs nothing', async () => {
  const engine = await startEngine();
  const [[document, position]] = places;
  const { outcome, metrics } = await engine.completeInDetail(
    request(document, position),
    AbortSignal.abort(),
  );
  assert.deepEqual(outcome, { kind: 'cancelled' });
  assert.equal(metrics.numSteps, 0);
  await engine.dispose();
});

test('settings that do not work leave the old ones in force', async () => {
  const engine = await startEngine();
  const before = await completeAt(engine, places[0]);
  const { facts } = engine;
  for (const model of ['/no/such/model', cacheDir]) {
    await assert.rejects(engine.setSettings({ ...settings, model }), { code: 'model.notFound' });
  }
  // Weights that are fine, and no tokenizer.
  const dir = writeRandomCheckpoint(join(cacheDir, 'bare'), tinyShape, 1);
  await assert.rejects(engine.setSettings({ ...settings, model: dir }), {
    code: 'model.notFound',
    message: /tokenizer/,
  });
  assert.deepEqual(engine.facts, facts);
  assert.deepEqual(await completeAt(engine, places[0]), before);
  await engine.dispose();
});

test('alternatives that are being sought when the settings change are found with the old ones', async () => {
  const engine = await startEngine();
  const [[document, position]] = places;
  const seeking = engine.alternatives({ ...request(document, position), count: 4, known: [] }, never);
  await engine.setSettings({ ...settings, algorithm: 'ngram', device: 'auto' });
  const found = await seeking;
  assert.equal(found.kind, 'alternatives');
  assert.equal(engine.facts.algorithm, 'ngram');
  assert.equal((await engine.complete(request(document, position), never)).kind, 'completion');
  await engine.dispose();
});

test('a suggestion that is being written when the settings change is reported as what wrote it', async () => {
  const engine = await startEngine({ algorithm: 'none' });
  watchPasses(engine, async () => {
    while (engine.facts.algorithm === 'none') await setImmediate();
  });
  const writing = engine.complete(request(...places[0]), never);
  await engine.setSettings({ ...settings, algorithm: 'ngram' });
  const result = await writing;
  assert.ok(result.kind === 'completion', JSON.stringify(result));
  assert.equal(result.metrics.algorithm, 'none');
  await engine.dispose();
});

test('a model that nobody knows how to ask leaves the old one in force', async () => {
  const engine = await startEngine();
  const dir = join(temporaryFolder(), 'unaskable');
  cpSync(embeddedModelDir, dir, { recursive: true });
  const file = join(dir, 'tokenizer_config.json');
  const config = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...config, fim_template: 'there is no {hole}' }));
  await assert.rejects(engine.setSettings({ ...settings, model: dir }), { code: 'model.corrupt' });
  assert.ok('text' in (await completeAt(engine, places[0])));
  await engine.dispose();
});

test('completions go on while the model is exchanged, and the last settings asked for are in force', async () => {
  const engine = await startEngine();
  const [[document, position]] = places;
  const expected = await engine.complete(request(document, position), never);
  const changes = [
    engine.setSettings({ ...settings, device: 'auto' }),
    engine.setSettings({ ...settings, model: '/no/such/model' }),
    engine.setSettings({ ...settings, device: 'cpu', maxTokens: 1 }),
  ];
  const settled = Promise.allSettled(changes);
  let done = false;
  settled.then(() => {
    done = true;
  });
  while (!done) {
    const result = await engine.complete(request(document, position), never);
    assert.ok(result.kind === 'completion' && expected.kind === 'completion');
    assert.ok(expected.text.startsWith(result.text));
  }
  assert.deepEqual(
    (await settled).map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  const { metrics } = await engine.completeInDetail(request(document, position), never);
  assert.equal(metrics.completionTokens, 1);
  await engine.dispose();
});

test('disposing while completing waits for the step under way, and nothing breaks', async () => {
  const engine = await startEngine({ promptTokens: 1400 });
  const document = sampleDocument('src/long.ts', longText());
  const abort = new AbortController();
  const asked = request(document, document.positionAt(document.getText().length));
  const running = [engine.complete(asked, abort.signal), engine.complete(asked, abort.signal)];
  const changing = engine.setSettings({ ...settings, device: 'auto' });
  abort.abort();
  await engine.dispose();
  for (const result of await Promise.all(running)) assert.deepEqual(result, { kind: 'cancelled' });
  await changing;
});

test('a document that is closed and opened with another text is quoted as it is', async (t) => {
  const engine = await startEngine({ algorithm: 'none', maxTokens: 4 });
  t.after(() => engine.dispose());
  const open = (text: string) => {
    const document = sampleDocument('src/route.ts', text);
    engine.documentChanged(document);
    return document;
  };
  const text = 'import { parseRoute } from "./route";\nconst route = parseRoute(';
  const promptAt = async (other: TextDocument, written: string) => {
    const document = sampleDocument('src/user.ts', written);
    const position = document.positionAt(written.length);
    await engine.complete({ ...request(document, position), openDocuments: [other, document] }, never);
    return engine.lastPrompt() ?? '';
  };
  const before = open('export function parseRoute(oldName: string) {\n  return oldName;\n}\n');
  assert.match(await promptAt(before, text), /oldName/);
  engine.documentClosed(before.uri);
  const now = open(
    'export function parseRoute(request: Request, limit: number) {\n  return request.url;\n}\n',
  );
  const prompt = await promptAt(now, `${text}x`);
  assert.match(prompt, /limit: number/);
  assert.doesNotMatch(prompt, /oldName/);
});
