/**
 * VS Code for the browser (code-server, with the same remote extension host as Remote-SSH), installed once a
 * machine into the user's cache folder: a few minutes the first time.
 */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const CODE_SERVER = '4.139.1';
/** code-server needs a newer Node than the one that runs the tests. */
const NODE = '24';

export interface CodeServerInstallation {
  readonly node: string;
  readonly entry: string;
}

/** @throws Error with the output of the step that failed */
export async function installCodeServer(): Promise<CodeServerInstallation> {
  if (process.platform === 'win32') {
    throw new Error('VS Code for the browser (code-server) does not run on Windows: install VS Code.');
  }
  const folder = join(cacheRoot(), `code-server-${CODE_SERVER}-node-${NODE}`);
  if (!existsSync(folder)) await installInto(folder);
  return installationIn(folder);
}

function cacheRoot(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'slipstream-vscode');
}

function installationIn(folder: string): CodeServerInstallation {
  return {
    node: join(folder, 'node_modules', 'node', 'bin', 'node'),
    entry: join(folder, 'node_modules', 'code-server', 'out', 'node', 'entry.js'),
  };
}

/** Built beside and renamed at the end, so that an interrupted installation is never used. */
async function installInto(folder: string): Promise<void> {
  console.log('Installing VS Code for the browser (once a machine, some minutes) ...');
  const partial = `${folder}.partial-${process.pid}`;
  mkdirSync(partial, { recursive: true });
  try {
    await install(partial);
    if (!existsSync(folder)) renameSync(partial, folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/**
 * code-server's own install script expects yarn and its own Node: its steps are taken one by one instead,
 * under the Node that will run it, because native modules are built on the way.
 */
async function install(folder: string): Promise<void> {
  const nodeFolder = join(folder, 'node_modules', 'node', 'bin');
  const npm = (cwd: string, ...args: string[]) => runNpm(nodeFolder, cwd, args);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }));
  await npm(folder, 'install', '--ignore-scripts=false', `node@${NODE}`);
  await npm(folder, 'install', '--ignore-scripts', `code-server@${CODE_SERVER}`);
  makeExecutable(join(folder, 'node_modules', 'cross-env', 'dist', 'bin'));
  await npm(join(folder, 'node_modules', 'argon2'), 'run', 'install', '--ignore-scripts=false');
  const vscode = join(folder, 'node_modules', 'code-server', 'lib', 'vscode');
  await npm(vscode, 'install', '--omit=dev', '--ignore-scripts=false');
  await npm(join(vscode, 'extensions'), 'install', '--omit=dev', '--ignore-scripts=false');
}

/** The package is published without the mode bits of its programs. */
function makeExecutable(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.js')) chmodSync(join(folder, name), 0o755);
  }
}

async function runNpm(nodeFolder: string, cwd: string, args: string[]): Promise<void> {
  const env = { ...process.env, ...nodeHeaders(), PATH: `${nodeFolder}${delimiter}${process.env.PATH}` };
  try {
    await promisify(execFile)('npm', args, { cwd, env, maxBuffer: 2 ** 26 });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`npm ${args.join(' ')} failed in ${cwd}:\n${stdout}\n${stderr}`, { cause: error });
  }
}

/** Headers that came with this Node spare node-gyp a download; the modules use the stable Node-API. */
function nodeHeaders(): { npm_config_nodedir?: string } {
  const prefix = dirname(dirname(process.execPath));
  return existsSync(join(prefix, 'include', 'node', 'node_api.h')) ? { npm_config_nodedir: prefix } : {};
}
