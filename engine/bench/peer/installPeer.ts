import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { SlipstreamError } from '../../errors.ts';
import type { PeerModule } from './peerModule.ts';

export const PEER_VERSION = '3.22.1';

/** Its packages of prebuilt binaries for the CPU. The others (CUDA, Vulkan) are hundreds of megabytes. */
const binaries: Readonly<Record<string, string>> = {
  'linux-x64': '@node-llama-cpp/linux-x64',
  'linux-arm64': '@node-llama-cpp/linux-arm64',
  'darwin-arm64': '@node-llama-cpp/mac-arm64-metal',
  'darwin-x64': '@node-llama-cpp/mac-x64',
  'win32-x64': '@node-llama-cpp/win-x64',
  'win32-arm64': '@node-llama-cpp/win-arm64',
};

/**
 * node-llama-cpp, installed once into a folder of its own: as a dependency of this package it would bring its GPU
 * binaries into every clone.
 *
 * @throws SlipstreamError device.unavailable where it has no binary, io when npm cannot install it
 */
export async function installPeer(cacheDir: string): Promise<PeerModule> {
  const folder = join(cacheDir, `node-llama-cpp-${PEER_VERSION}`);
  const entry = join(folder, 'node_modules', 'node-llama-cpp', 'dist', 'index.js');
  if (!existsSync(join(folder, 'ready'))) await install(folder);
  return await import(pathToFileURL(entry).href);
}

async function install(folder: string): Promise<void> {
  const binary = binaries[`${process.platform}-${process.arch}`];
  if (binary === undefined) {
    throw new SlipstreamError(
      'device.unavailable',
      'node-llama-cpp has no prebuilt binary for this machine.',
    );
  }
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
  const packages = [`node-llama-cpp@${PEER_VERSION}`, `${binary}@${PEER_VERSION}`];
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  try {
    await promisify(execFile)(npm, ['install', '--ignore-scripts', '--omit=optional', ...packages], {
      cwd: folder,
      shell: process.platform === 'win32',
      maxBuffer: 2 ** 26,
    });
  } catch (cause) {
    throw new SlipstreamError('io', `npm cannot install ${packages.join(' and ')} into ${folder}.`, {
      cause,
    });
  }
  await writeFile(join(folder, 'ready'), '');
}
