import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { installCodeServer } from './codeServerInstall.ts';
import { type UserOptions, userData } from './vsCode.ts';

export interface CodeServer {
  readonly process: ChildProcess;
  /** The address that shows a folder. */
  url(folder: string): string;
}

/** @returns once the server answers; kill its `process` to end it */
export async function startCodeServer(options: UserOptions): Promise<CodeServer> {
  const { node, entry } = await installCodeServer();
  const { dataDir, extensions, logLevel = 'debug' } = options;
  const dirs = userData(options);
  for (const vsix of extensions) {
    await promisify(execFile)(node, [entry, ...dirs, '--install-extension', vsix]);
  }

  const port = await freePort();
  const log = await open(join(dataDir, 'server.log'), 'w');
  const server = spawn(
    node,
    [
      entry,
      ...['--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, '--log', logLevel],
      ...dirs,
      ...['--disable-telemetry', '--disable-update-check', '--disable-workspace-trust'],
    ],
    { stdio: ['ignore', log.fd, log.fd] },
  );
  await log.close();
  await untilHealthy(port, server);
  return {
    process: server,
    url: (folder) => `http://127.0.0.1:${port}/?folder=${encodeURIComponent(folder)}`,
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

async function untilHealthy(port: number, server: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 150; tries++) {
    if (server.exitCode !== null)
      throw new Error(`code-server ended with ${server.exitCode}; see server.log`);
    const isUp = await fetch(`http://127.0.0.1:${port}/healthz`).then(
      () => true,
      () => false,
    );
    if (isUp) return;
    await pause(200);
  }
  server.kill();
  throw new Error('code-server did not answer within 30 s; see server.log');
}
