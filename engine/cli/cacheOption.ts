import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Option } from './command.ts';
import type { CommandLine } from './commandLine.ts';

export const cacheOptions = {
  'cache-dir': {
    value: 'DIR',
    help: "Folder for compiled models and indexes. Default: the user's cache folder.",
  },
} as const satisfies Record<string, Option>;

export function cacheDir(line: CommandLine): string {
  return line.text('cache-dir') ?? join(userCacheDir(), 'slipstream');
}

function userCacheDir(): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (process.platform === 'win32') return LOCALAPPDATA || join(homedir(), 'AppData', 'Local');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches');
  return XDG_CACHE_HOME || join(homedir(), '.cache');
}
