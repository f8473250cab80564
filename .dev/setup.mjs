/**
 * Brings a fresh clone to a state in which everything runs: Node checked, dependencies installed, bundles
 * built. Uses Node's own modules only, because it runs before there is a node_modules.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** A failure whose message is all that the person needs to read. */
export class SetupError extends Error {}

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** Runs a program to its end; its output goes where ours goes. @returns the exit code, or the signal's name */
export function runProgram(command, args, { env, timeoutMs } = {}) {
  return new Promise((resolve, reject) => {
    const ownGroup = process.platform !== 'win32';
    const child = spawn(...inShellWhereNeeded(command, args), {
      cwd: root,
      shell: isBatchFile(command),
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit'],
      // A group of its own, so that running out of time also ends what the program started.
      detached: ownGroup,
    });
    const end = (signal) => {
      try {
        process.kill(ownGroup ? -child.pid : child.pid, signal);
      } catch {
        // Already gone.
      }
    };
    const onSignal = (signal) => {
      end('SIGTERM');
      process.exit(128 + constants.signals[signal]);
    };
    process.once('SIGINT', onSignal);
    process.once('SIGTERM', onSignal);
    const timer = timeoutMs && setTimeout(() => end('SIGKILL'), timeoutMs);
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
      resolve(code ?? signal);
    });
  });
}

/** Windows runs one only in a shell, which takes everything as one text. */
const isBatchFile = (command) => command.endsWith('.cmd');

function inShellWhereNeeded(command, args) {
  if (!isBatchFile(command)) return [command, args];
  return [[command, ...args].map((text) => `"${text}"`).join(' '), []];
}

function checkNode() {
  const wanted = readJson(join(root, 'package.json')).engines.node.replace(/^>=/, '').split('.').map(Number);
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < wanted[0] || (major === wanted[0] && minor < wanted[1])) {
    throw new SetupError(
      `Slipstream needs Node.js ${wanted.join('.')} or newer; this is ${process.versions.node}. Get it from https://nodejs.org.`,
    );
  }
}

/** Whether node_modules holds what the lockfile asks for. Compares contents: file times change with a checkout. */
function dependenciesAreInstalled() {
  const installedPath = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedPath)) return false;
  const installed = readJson(installedPath).packages;
  return Object.entries(readJson(join(root, 'package-lock.json')).packages).every(
    ([path, { version, optional }]) =>
      path === '' || (optional && !installed[path]) || installed[path]?.version === version,
  );
}

async function installDependencies() {
  if (dependenciesAreInstalled()) return;
  console.log('Installing dependencies (npm ci) ...');
  // npm tells its scripts where it lives; its own Node then runs it on every platform without a shell.
  const npm = process.env.npm_execpath;
  const code = npm
    ? await runProgram(process.execPath, [npm, 'ci'])
    : await runProgram(process.platform === 'win32' ? 'npm.cmd' : 'npm', ['ci']);
  if (code !== 0) {
    throw new SetupError(
      `npm ci failed (${code}). It needs the network (or a filled npm cache) and about 1 GB of disk; npm's own message is above.`,
    );
  }
}

async function buildBundles() {
  const code = await runProgram(process.execPath, ['esbuild.mjs']);
  if (code !== 0) throw new SetupError(`The build failed (${code}); esbuild's message is above.`);
}

/** The whole way from a fresh clone to runnable bundles. Cheap when all of it is done. */
export async function setUp() {
  checkNode();
  await installDependencies();
  await buildBundles();
}

/** @returns the full path of a program on PATH, or undefined */
export function findOnPath(name) {
  const endings = process.platform === 'win32' ? ['.cmd', '.exe'] : [''];
  return (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => endings.map((ending) => join(folder, name + ending)))
    .find((path) => existsSync(path));
}

/** Which of these Debian packages are not installed. Elsewhere than on Debian nothing can be said: none. */
function missingDebianPackages(packages) {
  if (!findOnPath('dpkg')) return [];
  return packages.filter((name) => {
    const { stdout } = spawnSync('dpkg', ['--status', name], { encoding: 'utf8' });
    return !stdout.includes('Status: install ok installed');
  });
}

/** Installs Debian packages where that can be done without asking (as root); otherwise says what to install. */
export async function ensureDebianPackages(packages) {
  const missing = missingDebianPackages(packages);
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0) {
    throw new SetupError(`Something is missing: sudo apt-get install ${missing.join(' ')}`);
  }
  console.log(`Installing ${missing.join(', ')} (apt-get) ...`);
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await runProgram('apt-get', ['-qq', 'update'], { env });
  const code = await runProgram('apt-get', ['-qq', '-y', 'install', '--no-install-recommends', ...missing], {
    env,
  });
  if (code !== 0) throw new SetupError(`apt-get install ${missing.join(' ')} failed (${code}).`);
}

/** Runs the entry of a script in this folder: a SetupError prints as its message alone. */
export async function main(entry) {
  try {
    process.exitCode = await entry();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.error(`\n${error.message}`);
    process.exitCode = 1;
  }
}
