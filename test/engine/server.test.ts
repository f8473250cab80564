import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { before, test } from 'node:test';
import { CancellationTokenSource, ResponseError } from 'vscode-jsonrpc/node';
import type * as protocol from '../../engine/protocol.ts';
import * as methods from '../../engine/protocolMethods.ts';
import {
  bundleScriptedEngine,
  initializeParams,
  type RunningEngine,
  startEngine,
  textDocument,
} from './engineUnderTest.ts';

let path: string;
before(async () => {
  path = await bundleScriptedEngine();
});

async function ready(): Promise<RunningEngine> {
  const engine = startEngine(path);
  await engine.connection.sendRequest(methods.initialize, initializeParams());
  return engine;
}

let partialTextToken = 0;
function completeAt(character: number, version = 1): protocol.CompleteParams {
  return {
    uri: 'file:///a.ts',
    version,
    position: { line: 0, character },
    indentation: { insertSpaces: true, tabSize: 2 },
    partialTextToken: partialTextToken++,
  };
}

async function open(engine: RunningEngine, text: string): Promise<void> {
  await engine.connection.sendNotification(methods.didOpen, textDocument(text));
}

const textOf = (result: protocol.CompleteResult) =>
  result.kind === 'completion' ? result.text : result.kind;

async function faultOf(request: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await request.then(
    () => assert.fail('was not rejected'),
    (reason: ResponseError<protocol.FaultData>) => reason,
  );
  assert.ok(error instanceof ResponseError);
  return { code: error.data!.code, message: error.message };
}

test('answers a completion on the synced document, then ends when asked to', async () => {
  const engine = await ready();
  await open(engine, 'ab');
  await engine.connection.sendNotification(methods.didChange, {
    uri: 'file:///a.ts',
    baseVersion: 1,
    version: 4,
    changes: [
      { range: { start: { line: 0, character: 2 }, end: { line: 0, character: 2 } }, text: 'd' },
      { range: { start: { line: 0, character: 2 }, end: { line: 0, character: 2 } }, text: 'c' },
    ],
  });
  const params = completeAt(4, 4);
  const partial: string[] = [];
  engine.connection.onProgress(methods.partialText, params.partialTextToken, (text) => {
    partial.push(text);
  });
  const result = await engine.connection.sendRequest(methods.complete, params);
  assert.equal(textOf(result), '[abcd] open=1 cells=undefined');
  assert.deepEqual(partial, ['[abcd] open=1 cells=undefined']);

  await engine.connection.sendRequest(methods.shutdown);
  assert.deepEqual(await engine.exit, { code: 0, signal: null });
  assert.match(engine.output(), /prints to stdout/);
});

test('cells of a notebook arrive in their order, whatever order they were opened in', async () => {
  const engine = await ready();
  for (const cell of [2, 0, 1]) {
    await engine.connection.sendNotification(methods.didOpen, {
      ...textDocument(`cell${cell}`),
      uri: cell === 1 ? 'file:///a.ts' : `cell:${cell}`,
      notebook: { uri: 'file:///n.ipynb', cell },
    });
  }
  const result = await engine.connection.sendRequest(methods.complete, completeAt(0));
  assert.match(textOf(result), /cells=cell0\|cell1\|cell2$/);
  engine.process.kill();
});

test('a document out of step is reported, and works again once opened again', async () => {
  const engine = await ready();
  const ask = (version: number) => engine.connection.sendRequest(methods.complete, completeAt(0, version));
  assert.equal((await ask(1)).kind, 'outOfSync', 'never opened');
  await open(engine, 'one');
  assert.equal((await ask(2)).kind, 'outOfSync', 'a version that never arrived');
  const stale = { uri: 'file:///a.ts', baseVersion: 5, version: 6, changes: [] };
  await engine.connection.sendNotification(methods.didChange, stale);
  assert.equal((await ask(6)).kind, 'outOfSync', 'changes of another base');
  assert.equal((await ask(1)).kind, 'outOfSync', 'and the old text is not trusted either');
  await open(engine, 'two');
  assert.match(textOf(await ask(1)), /^\[two\]/);
  engine.process.kill();
});

test('cancelling reaches the run, and a newer request aborts an older one', { timeout: 60_000 }, async () => {
  const engine = await ready();
  await open(engine, 'wait');
  const source = new CancellationTokenSource();
  const params = completeAt(4);
  const runs = new Promise((resolve) =>
    engine.connection.onProgress(methods.partialText, params.partialTextToken, resolve),
  );
  // Without the cancel this run would never end.
  const cancelled = engine.connection.sendRequest(methods.complete, params, source.token);
  await runs;
  source.cancel();
  assert.equal((await cancelled).kind, 'cancelled');

  const older = engine.connection.sendRequest(methods.complete, completeAt(4));
  const newer = engine.connection.sendRequest(methods.complete, completeAt(0));
  assert.equal((await older).kind, 'cancelled');
  assert.equal((await newer).kind, 'completion');
  engine.process.kill();
});

test('a preparation ends with the next request, and what goes wrong in it is only logged', {
  timeout: 60_000,
}, async () => {
  const engine = await ready();
  const logged: string[] = [];
  engine.connection.onNotification(methods.log, ({ level, message }) => {
    logged.push(`${level} ${message}`);
  });
  const { partialTextToken, ...place } = completeAt(4);
  await open(engine, 'wait');
  // Without an end this one would go on for ever.
  await engine.connection.sendNotification(methods.prepare, place);
  await engine.connection.sendNotification(methods.prepare, { ...place, version: 7 });
  const result = await engine.connection.sendRequest(methods.complete, completeAt(0));
  assert.equal(result.kind, 'completion');
  await open(engine, 'fault');
  await engine.connection.sendNotification(methods.prepare, {
    ...place,
    position: { line: 0, character: 5 },
  });
  await engine.connection.sendRequest(methods.lastPrompt);
  assert.deepEqual(
    logged.filter((line) => line.startsWith('debug')),
    ['debug 4 tokens of the prompt evaluated ahead'],
  );
  assert.match(logged.filter((line) => line.startsWith('error')).join(), /completion\/prepare: Error: a bug/);
  engine.process.kill();
});

test('faults keep their code; a bad request names what is wrong; the engine goes on', async () => {
  const engine = await ready();
  await open(engine, 'fault');
  const request = (method: string, params: unknown) => engine.connection.sendRequest(method, params);
  assert.deepEqual(await faultOf(request('complete', completeAt(5))), { code: 'internal', message: 'a bug' });
  assert.deepEqual(
    await faultOf(request('complete', { ...completeAt(0), position: { line: -1, character: 0 } })),
    {
      code: 'usage',
      message: `complete.position.line: expected an integer from 0 to ${Number.MAX_SAFE_INTEGER}, got -1`,
    },
  );
  for (const bad of [null, 7, 'x', [], {}, { ...completeAt(0), version: 'new' }]) {
    assert.equal((await faultOf(request('complete', bad))).code, 'usage');
  }
  assert.equal((await faultOf(request('initialize', initializeParams()))).code, 'usage');
  assert.equal(
    (await faultOf(request('changeSettings', { ...initializeParams().settings, model: 'notFound' }))).code,
    'model.notFound',
  );
  await assert.rejects(request('no/such/method', {}), /no\/such\/method/);
  await engine.connection.sendNotification('document/didChange', { uri: 3 });
  await engine.connection.sendNotification('no/such/notification', {});

  const facts = await engine.connection.sendRequest(methods.changeSettings, {
    ...initializeParams().settings,
    algorithm: 'none',
  });
  assert.equal(facts.precision, 'none');
  assert.equal(await engine.connection.sendRequest(methods.lastPrompt), 'the last prompt');
  engine.process.kill();
});

test('nothing but initialize is served before the engine is ready, and a failed load keeps its code', async () => {
  const engine = startEngine(path);
  assert.equal((await faultOf(engine.connection.sendRequest(methods.complete, completeAt(0)))).code, 'usage');
  const fault = await faultOf(
    engine.connection.sendRequest(methods.initialize, initializeParams({ model: 'notFound' })),
  );
  assert.deepEqual(fault, { code: 'model.notFound', message: 'no such model: choose another folder' });
  engine.process.kill();
});

test('messages that are not JSON-RPC are survived', async () => {
  const engine = await ready();
  for (const garbage of [0, '', 'garbage', [], {}, { jsonrpc: '1.0' }, { id: {}, method: 4 }]) {
    engine.process.send(garbage);
  }
  await open(engine, 'still here');
  const result = await engine.connection.sendRequest(methods.complete, completeAt(0));
  assert.match(textOf(result), /still here/);
  engine.process.kill();
});

test('bytes that are no messages at all end the process and say why', async () => {
  const child = spawn(process.execPath, [path], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_CHANNEL_FD: '3', NODE_CHANNEL_SERIALIZATION_MODE: 'json' },
  });
  let stderr = '';
  child.stderr!.on('data', (chunk) => (stderr += chunk));
  (child.stdio[3] as NodeJS.WritableStream).write('\u0000garbage}{\n');
  const [code] = await once(child, 'exit');
  assert.notEqual(code, 0);
  assert.match(stderr, /JSON/);
});

test('an error that nobody handles ends the process with a fault', async () => {
  const engine = await ready();
  await open(engine, 'reject');
  await engine.connection.sendNotification('complete', {});
  engine.connection.sendRequest(methods.complete, completeAt(6)).catch(() => {});
  assert.deepEqual(await engine.exit, { code: 70, signal: null });
  assert.match(engine.output(), /nobody handles this/);
});

test('started by hand it says what to do instead', async () => {
  const child = spawn(process.execPath, [path], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const [code] = await once(child, 'exit');
  assert.equal(code, 64);
  assert.match(stderr, /on a command line use `slipstream`/);
});
