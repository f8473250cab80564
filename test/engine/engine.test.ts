import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import type * as protocol from '../../engine/protocol.ts';
import * as methods from '../../engine/protocolMethods.ts';
import {
  bundleEngine,
  initializeParams,
  type RunningEngine,
  startEngine,
  textDocument,
} from './engineUnderTest.ts';

let path: string;
before(async () => {
  path = await bundleEngine();
});

const beginning = `export function sum(items) {
  let total = 0;
  for (const item of items) {
    total += item;
  }
  return total;
}

export function product(items) {
  let total = 1;
  for (const item`;

async function ready(): Promise<RunningEngine> {
  const engine = startEngine(path);
  await engine.connection.sendRequest(methods.initialize, initializeParams());
  return engine;
}

function endOf(text: string): protocol.Position {
  const lines = text.split('\n');
  return { line: lines.length - 1, character: lines.at(-1)!.length };
}

function completeAt(text: string, version: number): protocol.CompleteParams {
  return {
    uri: 'file:///a.ts',
    version,
    position: endOf(text),
    indentation: { insertSpaces: true, tabSize: 2 },
    partialTextToken: version,
  };
}

test('the embedded model writes on, and a key prefills next to nothing', async () => {
  const engine = await ready();
  const { connection } = engine;
  await connection.sendNotification(methods.didOpen, textDocument(beginning));
  const partial: string[] = [];
  connection.onProgress(methods.partialText, 1, (text) => {
    partial.push(text);
  });
  const first = await connection.sendRequest(methods.complete, completeAt(beginning, 1));
  assert.ok(first.kind === 'completion', JSON.stringify(first));
  assert.ok(partial.length > 0 && partial.at(-1)!.startsWith(first.text.trimEnd()), JSON.stringify(partial));

  const at = endOf(beginning);
  const typed = { range: { start: at, end: at }, text: first.text[0] };
  await connection.sendNotification(methods.didChange, {
    uri: 'file:///a.ts',
    baseVersion: 1,
    version: 2,
    changes: [typed],
  });
  const second = await connection.sendRequest(methods.complete, completeAt(beginning + first.text[0], 2));
  assert.ok(second.kind === 'completion', JSON.stringify(second));
  assert.ok(second.metrics.prefilledTokens <= 8, `${second.metrics.prefilledTokens} tokens for one key`);
  assert.match((await connection.sendRequest(methods.lastPrompt))!, /export function product/);

  await connection.sendRequest(methods.shutdown);
  assert.deepEqual(await engine.exit, { code: 0, signal: null });
});

test('other settings are in force once they are answered; a model that is none changes nothing', async () => {
  const engine = await ready();
  const { connection } = engine;
  const { settings } = initializeParams();
  await assert.rejects(
    connection.sendRequest(methods.changeSettings, { ...settings, model: 'test/fixtures' }),
    /test.fixtures.*\.json/,
  );
  await connection.sendRequest(methods.changeSettings, { ...settings, algorithm: 'none', maxTokens: 2 });
  await connection.sendNotification(methods.didOpen, textDocument(beginning));
  const result = await connection.sendRequest(methods.complete, completeAt(beginning, 1));
  assert.ok(result.kind === 'completion', JSON.stringify(result));
  assert.equal(result.metrics.numDraftTokens, 0);
  assert.ok(result.metrics.completionTokens <= 2);
  engine.process.kill();
});

test('a model that cannot be loaded is a coded fault that names the file', async () => {
  const engine = startEngine(path);
  await assert.rejects(
    engine.connection.sendRequest(methods.initialize, initializeParams({ model: 'test/fixtures' })),
    (error: { data?: protocol.FaultData; message: string }) => {
      assert.equal(error.data?.code, 'model.notFound');
      assert.match(error.message, /test.fixtures.*\.json/);
      return true;
    },
  );
  engine.process.kill();
});

test('the weights lie in huge pages where Linux gives them', { skip: noHugePages() }, async () => {
  const engine = await ready();
  const memory = readFileSync(`/proc/${engine.process.pid}/smaps_rollup`, 'utf8');
  const kilobytes = Number(/AnonHugePages:\s+(\d+) kB/.exec(memory)![1]);
  assert.ok(kilobytes > 0, memory);
});

/** Why this machine has none for the asking; false where it has. */
function noHugePages(): string | false {
  const setting = '/sys/kernel/mm/transparent_hugepage/enabled';
  if (!existsSync(setting)) return 'not Linux, or without huge pages';
  const chosen = /\[(\w+)\]/.exec(readFileSync(setting, 'utf8'))?.[1];
  if (chosen !== 'madvise' && chosen !== 'always') return `Linux is told: ${chosen}`;
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  const [major = 0, minor = 0] = (report.header?.glibcVersionRuntime ?? '').split('.').map(Number);
  return major * 100 + minor >= 235 ? false : 'another libc than glibc 2.35 or later';
}
