/** Bundles and forks engines for the tests of this folder. */
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { promisify } from 'node:util';
import * as esbuild from 'esbuild';
import {
  createMessageConnection,
  IPCMessageReader,
  IPCMessageWriter,
  type MessageConnection,
} from 'vscode-jsonrpc/node';
import type { EngineSettings, InitializeParams, OpenDocument } from '../../engine/protocol.ts';
import { engineEnvironment } from '../../extension/engineEnvironment.ts';

const defaults: EngineSettings = { algorithm: 'auto', device: 'cpu', maxTokens: 64 };

const scratch = mkdtempSync(join(tmpdir(), 'slipstream-engine-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

let scripted: Promise<string> | undefined;
let real: Promise<string> | undefined;

/** @returns the path of the scripted engine, bundled as the real one is; once in a test file */
export function bundleScriptedEngine(): Promise<string> {
  scripted ??= buildScripted();
  return scripted;
}

/** @returns the path of the real engine, freshly bundled where it is shipped from; once in a test file */
export function bundleEngine(): Promise<string> {
  real ??= buildReal();
  return real;
}

async function buildScripted(): Promise<string> {
  const outfile = join(scratch, 'scriptedEngine.mjs');
  await esbuild.build({
    entryPoints: ['test/fixtures/engine/scriptedEngine.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  return outfile;
}

async function buildReal(): Promise<string> {
  await promisify(execFile)(process.execPath, ['esbuild.mjs']);
  return 'dist/engine.js';
}

export interface RunningEngine {
  readonly process: ChildProcess;
  readonly connection: MessageConnection;
  /** Everything it wrote to stdout and stderr. */
  readonly output: () => string;
  readonly exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

const running = new Set<ChildProcess>();
after(() => {
  for (const child of running) child.kill('SIGKILL');
});

export function startEngine(path: string): RunningEngine {
  const child = fork(path, {
    env: engineEnvironment('path'),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (output += chunk));
  const exit = once(child, 'exit').then(([code, signal]) => {
    running.delete(child);
    return { code, signal };
  });
  const connection = createMessageConnection(new IPCMessageReader(child), new IPCMessageWriter(child));
  connection.listen();
  return { process: child, connection, output: () => output, exit };
}

export function initializeParams(settings: Partial<EngineSettings> = {}): InitializeParams {
  return { settings: { ...defaults, ...settings }, cacheDir: join(scratch, 'cache'), workspaceFolders: [] };
}

export function textDocument(text: string, version = 1): OpenDocument {
  return { uri: 'file:///a.ts', languageId: 'typescript', version, text };
}
