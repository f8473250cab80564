import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { before, test } from 'node:test';
import { bundleScriptedEngine, initializeParams, textDocument } from './engineUnderTest.ts';

let path: string;
before(async () => {
  path = await bundleScriptedEngine();
});

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
      position: { line: 0, character: text.length },
      trigger: 'automatic',
      indentation: { insertSpaces: true, tabSize: 2 },
      partialTextToken: 0,
    },
  },
];

/** What the host sent by the time it is killed, and the message to wait for before. */
const states = [
  { name: 'starting', messages: [], until: undefined },
  { name: 'loading the model', messages: [initialize('loadsForever')], until: undefined },
  { name: 'in a long native call of the load', messages: [initialize('hangsAtLoad')], until: undefined },
  { name: 'ready', messages: [initialize()], until: '"result"' },
  { name: 'in the middle of a run', messages: [initialize(), ...completion('wait')], until: '$/progress' },
  {
    name: 'in a long native call of a run',
    messages: [initialize(), ...completion('hang')],
    until: '"result"',
  },
];

for (const { name, messages, until } of states) {
  test(`a host killed leaves no engine behind: ${name}`, async () => {
    const host = spawn(process.execPath, ['test/fixtures/engine/host.mjs', path, JSON.stringify(messages)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let pid: number | undefined;
    for await (const line of createInterface(host.stdout)) {
      pid ??= JSON.parse(line).pid as number;
      if (until === undefined || line.includes(until)) break;
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.ok(isAlive(pid!), 'the engine ended before its host');
    host.kill('SIGKILL');
    const from = performance.now();
    while (isAlive(pid!)) {
      assert.ok(performance.now() - from < 10_000, 'the engine outlived its host');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
