import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '../waitFor.ts';
import { bundleEngine, bundleScriptedEngine, initializeParams, textDocument } from './engineUnderTest.ts';

const initialize = (model?: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: initializeParams(model === undefined ? {} : { model }),
});

const completion = (text: string) => [
  { jsonrpc: '2.0', method: 'document/didOpen', params: textDocument(text) },
  {
    jsonrpc: '2.0',
    id: 2,
    method: 'complete',
    params: {
      uri: 'file:///a.ts',
      version: 1,
      position: { line: text.split('\n').length - 1, character: text.split('\n').at(-1)!.length },
      indentation: { insertSpaces: true, tabSize: 2 },
      partialTextToken: 0,
    },
  },
];

interface State {
  readonly name: string;
  readonly engine: 'real' | 'scripted';
  /** What the host sent by the time it is killed. */
  readonly messages: readonly unknown[];
  /** Part of the message that it got last. */
  readonly until?: string;
}

const code = 'export function sum(items) {\n  let total = 0;\n  for (const item';
const states: readonly State[] = [
  { name: 'starting', engine: 'real', messages: [] },
  { name: 'loading the model', engine: 'real', messages: [initialize()] },
  { name: 'ready', engine: 'real', messages: [initialize()], until: '"result"' },
  {
    name: 'in the middle of a run',
    engine: 'real',
    messages: [initialize(), ...completion(code)],
    until: '$/progress',
  },
  { name: 'loading for ever', engine: 'scripted', messages: [initialize('loadsForever')] },
  { name: 'in a long native call of the load', engine: 'scripted', messages: [initialize('hangsAtLoad')] },
  {
    name: 'in a run for ever',
    engine: 'scripted',
    messages: [initialize(), ...completion('wait')],
    until: '$/progress',
  },
  {
    name: 'in a long native call of a run',
    engine: 'scripted',
    messages: [initialize(), ...completion('hang')],
    until: '"result"',
  },
];

for (const { name, engine, messages, until } of states) {
  test(`a host killed leaves no engine behind: ${engine} engine, ${name}`, { timeout: 60_000 }, async () => {
    const path = await (engine === 'real' ? bundleEngine() : bundleScriptedEngine());
    const host = spawn(process.execPath, ['test/fixtures/engine/host.mjs', path, JSON.stringify(messages)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let pid: number | undefined;
    for await (const line of createInterface(host.stdout)) {
      pid ??= JSON.parse(line).pid as number;
      if (until === undefined || line.includes(until)) break;
    }
    assert.ok(isAlive(pid!), 'the engine ended before its host');
    // A hang begins with the next turn of the engine's event loop.
    if (engine === 'scripted') await pause(300);
    host.kill('SIGKILL');
    await waitFor('the end of the engine', () => !isAlive(pid!));
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
