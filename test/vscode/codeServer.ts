import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installCodeServer } from './codeServerInstall.ts';

export interface CodeServerOptions {
  /** Folder for user data, extensions and the server's log. */
  readonly dataDir: string;
  /** The packed extension to install. */
  readonly vsix: string;
  /** User settings beside those that keep the window quiet. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

export interface CodeServer {
  readonly process: ChildProcess;
  /** The address of a window on a folder. */
  url(folder: string): string;
}

const quietSettings = {
  'workbench.startupEditor': 'none',
  'telemetry.telemetryLevel': 'off',
  'files.autoSave': 'off',
  'chat.disableAIFeatures': true,
};

/** Starts VS Code for the browser on a free port of this machine, with the extension installed. */
export async function startCodeServer({ dataDir, vsix, settings }: CodeServerOptions): Promise<CodeServer> {
  const { node, entry } = await installCodeServer();
  const userData = join(dataDir, 'user-data');
  const dirs = ['--user-data-dir', userData, '--extensions-dir', join(dataDir, 'extensions')];
  mkdirSync(join(userData, 'User'), { recursive: true });
  writeFileSync(
    join(userData, 'User', 'settings.json'),
    JSON.stringify({ ...quietSettings, ...settings }, null, 2),
  );
  await promisify(execFile)(node, [entry, ...dirs, '--install-extension', vsix]);
  const port = await freePort();
  const log = openSync(join(dataDir, 'server.log'), 'a');
  const quiet = ['--disable-telemetry', '--disable-update-check', '--disable-workspace-trust'];
  const address = ['--auth', 'none', '--bind-addr', `127.0.0.1:${port}`];
  const child = spawn(node, [entry, ...address, ...dirs, ...quiet], { stdio: ['ignore', log, log] });
  await untilHealthy(child, port, join(dataDir, 'server.log'));
  return {
    process: child,
    url: (folder) => `http://127.0.0.1:${port}/?folder=${encodeURIComponent(folder)}`,
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function untilHealthy(child: ChildProcess, port: number, log: string): Promise<void> {
  for (let attempt = 0; attempt < 150 && child.exitCode === null; attempt++) {
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  child.kill();
  throw new Error(`code-server did not start; its log is ${log}`);
}
