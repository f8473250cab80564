import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node';
import { SlipstreamError } from '../../../engine/errors.ts';
import type { AlternativesResult, CompleteResult } from '../../../engine/protocol.ts';
import type {
  AlternativesRequest,
  BenchmarkRequest,
  CompleteRequest,
  Engine,
} from '../../../engine/server/servedEngine.ts';
import { Server } from '../../../engine/server/server.ts';
import { EngineClient } from '../../../extension/engineClient.ts';
import { EngineFault, EngineGone } from '../../../extension/engineErrors.ts';

const initializeParams = {
  settings: { algorithm: 'auto', device: 'auto', maxTokens: 8 },
  cacheDir: 'cache',
  workspaceFolders: [],
} as const;

const params = {
  uri: 'file:///a.ts',
  version: 1,
  position: { line: 0, character: 0 },
  indentation: { insertSpaces: true, tabSize: 2 },
} as const;

const range = { start: params.position, end: params.position };
const stays = new AbortController().signal;

/** Answers with what is not known; waits for the end of the request when told to. */
async function alternatives(
  { count, known }: AlternativesRequest,
  signal: AbortSignal,
): Promise<AlternativesResult> {
  if (known.includes('waits')) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  if (signal.aborted) return { kind: 'cancelled' };
  return {
    kind: 'alternatives',
    suggestions: known.slice(0, count).map((text) => ({ text: `not ${text}`, range })),
  };
}

/** Measures until it is cancelled, and has nothing then. */
async function runBenchmark({ seed, onProgress }: BenchmarkRequest, signal: AbortSignal): Promise<null> {
  onProgress({ phase: 'measuring', done: seed, total: 9, detail: 'Measuring' });
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  return null;
}

/** The real server behind the client, over a pipe; only the engine itself answers as the test says. */
async function connect(complete: (request: CompleteRequest, signal: AbortSignal) => Promise<CompleteResult>) {
  const toServer = new PassThrough();
  const toClient = new PassThrough();
  const engine: Engine = {
    facts: { name: 'm', device: 'cpu', precision: 'int8', algorithm: 'auto' },
    complete,
    alternatives,
    prepare: async () => 0,
    listAlgorithms: async () => [{ algorithm: 'none' }, { algorithm: 'eagle3', missing: 'no head' }],
    lastPrompt: () => null,
    documentChanged() {},
    documentClosed() {},
    filesChanged() {},
    setFolders() {},
    runBenchmark,
    setSettings: () => Promise.reject(new SlipstreamError('model.notFound', 'no such model')),
    async dispose() {},
  };
  const logged: string[] = [];
  void new Server(
    { reader: new StreamMessageReader(toServer), writer: new StreamMessageWriter(toClient) },
    async ({ log, onIndexProgress, onModelChanged }) => {
      log('info', 'made');
      onIndexProgress({ state: 'ready', files: 1, filesDone: 1, tokens: 9 });
      onModelChanged({ ...engine.facts, deviceNote: 'no graphics processor' });
      return engine;
    },
  ).listen();
  const client = new EngineClient(new StreamMessageReader(toClient), new StreamMessageWriter(toServer), {
    onLog: (_, message) => logged.push(message),
    onIndexProgress: ({ tokens }) => logged.push(`${tokens} tokens`),
    onModelChanged: ({ deviceNote }) => logged.push(`${deviceNote}`),
  });
  await client.initialize(initializeParams);
  client.didOpen({ uri: params.uri, languageId: 'typescript', version: 1, text: '' });
  return { client, logged, hangUp: () => toClient.destroy() };
}

const empty: CompleteResult = { kind: 'empty', reason: 'nothing' };

test('passes on results, text as it grows, logs and progress', async () => {
  const { client, logged } = await connect(async ({ onText }) => {
    onText('a');
    onText('ab');
    return empty;
  });
  const partial: string[] = [];
  assert.deepEqual(await client.complete(params, (text) => partial.push(text), stays), empty);
  assert.deepEqual(partial, ['a', 'ab']);
  assert.deepEqual(logged, ['made', '9 tokens', 'no graphics processor']);
});

test('asks for alternatives to what is known', async () => {
  const { client } = await connect(async () => empty);
  const place = params;
  const asked = { ...place, count: 1, known: ['a', 'b'] };
  const suggestions = [{ text: 'not a', range }];
  assert.deepEqual(await client.alternatives(asked, stays), { kind: 'alternatives', suggestions });
  assert.deepEqual(await client.alternatives({ ...asked, version: 7 }, stays), { kind: 'outOfSync' });
  assert.deepEqual(await client.alternatives(asked, AbortSignal.abort()), { kind: 'cancelled' });
  await assert.rejects(client.alternatives({ ...asked, count: 0 }, stays), /alternatives\.count/);
});

test('cancelling reaches the engine; cancelled from the start it is not even asked', async () => {
  let asked = 0;
  const { client } = await connect(async (_, signal) => {
    asked++;
    if (signal.aborted) return { kind: 'cancelled' };
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve({ kind: 'cancelled' })));
  });
  const abort = new AbortController();
  const answer = client.complete(params, () => {}, abort.signal);
  setTimeout(() => abort.abort(), 20);
  assert.deepEqual(await answer, { kind: 'cancelled' });
  assert.deepEqual(await client.complete(params, () => {}, AbortSignal.abort()), { kind: 'cancelled' });
  assert.equal(asked, 1);
});

test('a request for a suggestion ends one for alternatives', async () => {
  const { client } = await connect(async () => empty);
  const place = params;
  const waiting = client.alternatives({ ...place, count: 1, known: ['waits'] }, stays);
  assert.deepEqual(await client.complete(params, () => {}, stays), empty);
  assert.deepEqual(await waiting, { kind: 'cancelled' });
});

test('a benchmark tells how far it is, ends when it is cancelled, and does not outlive the engine', async () => {
  const { client, hangUp } = await connect(async () => empty);
  const choice = { algorithms: ['ngram'], tasks: 3, seed: 7, maxNewTokens: 8 } as const;
  const abort = new AbortController();
  const done: number[] = [];
  const answer = client.runBenchmark(
    choice,
    (progress) => {
      done.push(progress.done);
      abort.abort();
    },
    abort.signal,
  );
  assert.equal(await answer, null);
  assert.deepEqual(done, [7]);
  await assert.rejects(client.runBenchmark(choice, hangUp, stays), EngineGone);
});

test('a fault keeps its code and its message', async () => {
  const { client } = await connect(async () => empty);
  await assert.rejects(client.changeSettings(initializeParams.settings), (error: EngineFault) => {
    assert.ok(error instanceof EngineFault);
    assert.deepEqual([error.code, error.message], ['model.notFound', 'no such model']);
    return true;
  });
});

test('nothing waits for an engine that is gone', async () => {
  const { client, hangUp } = await connect(() => new Promise(() => {}));
  const completion = client.complete(params, () => {}, stays);
  await pause(20);
  hangUp();
  assert.deepEqual(await completion, { kind: 'cancelled' }, 'for a completion that is an outcome');
  await assert.rejects(client.lastPrompt(), EngineGone);
  client.didClose(params.uri);
});
