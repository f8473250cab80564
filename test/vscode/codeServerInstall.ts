/**
 * Installs VS Code for the browser (code-server) with the Node it needs, once a machine, in the user's cache.
 * The recipe is longer than `npm install` because the package compiles native modules in a script of its own
 * that expects a full checkout.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

export const chromium = '/usr/bin/chromium';

const run = promisify(execFile);
const versions = { node: '24', codeServer: '4.139.1' } as const;
const debianPackages = ['chromium', 'libkrb5-dev', 'pkg-config'];

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'slipstream-e2e');
const nodeBin = join(cache, 'node24', 'node_modules', 'node', 'bin');
const codeServer = join(cache, 'cs', 'node_modules', 'code-server');

export interface CodeServerInstall {
  readonly node: string;
  readonly entry: string;
}

/** Rejects with the failed command's output. */
export async function installCodeServer(): Promise<CodeServerInstall> {
  await installDebianPackages();
  await installNode();
  await installServer();
  return { node: join(nodeBin, 'node'), entry: join(codeServer, 'out', 'node', 'entry.js') };
}

async function installDebianPackages(): Promise<void> {
  const installed = await run('dpkg', ['-s', ...debianPackages]).then(
    () => true,
    () => false,
  );
  if (installed || existsSync(join(cache, 'cs', 'ready'))) return;
  if (process.getuid?.() !== 0)
    throw new Error(`Please install: apt-get install ${debianPackages.join(' ')}`);
  await run('apt-get', ['update', '-q']);
  await run('apt-get', ['install', '-y', '-q', ...debianPackages], { maxBuffer: 2 ** 26 });
}

async function installNode(): Promise<void> {
  if (existsSync(join(nodeBin, 'node'))) return;
  const folder = join(cache, 'node24');
  await startPackage(folder);
  // The binary is put in its place by the package's own install script.
  await npm(folder, 'install', '--ignore-scripts=false', `node@${versions.node}`);
}

async function installServer(): Promise<void> {
  const folder = join(cache, 'cs');
  const ready = join(folder, 'ready');
  if (existsSync(ready)) return;
  await startPackage(folder);
  await npm(folder, 'install', '--ignore-scripts', `code-server@${versions.codeServer}`);
  const crossEnv = join(folder, 'node_modules', 'cross-env', 'dist', 'bin');
  for (const file of await readdir(crossEnv)) {
    if (file.endsWith('.js')) await chmod(join(crossEnv, file), 0o755);
  }
  await npm(join(folder, 'node_modules', 'argon2'), 'run', 'install');
  const vscode = join(codeServer, 'lib', 'vscode');
  for (const part of [vscode, join(vscode, 'extensions')]) {
    await npm(part, 'install', '--ignore-scripts=false', '--omit=dev');
  }
  await writeFile(ready, '');
}

async function startPackage(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  if (!existsSync(join(folder, 'package.json'))) {
    await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
  }
}

async function npm(cwd: string, ...args: string[]): Promise<void> {
  const path = [nodeBin, process.env.PATH].join(delimiter);
  await run('npm', args, { cwd, env: { ...process.env, PATH: path }, maxBuffer: 2 ** 28 });
}
