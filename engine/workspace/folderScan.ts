import { lstat, readdir } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { IgnoreRules } from './ignoreRules.ts';
import { isSecretFile, isSecretFolder } from './secretFiles.ts';

/** A change of either means a change of the content. */
export interface FileStamp {
  readonly size: number;
  readonly mtimeMs: number;
}

export interface FoundFile extends FileStamp {
  readonly path: string;
}

/**
 * The files at and below a path of a workspace folder that may be read: neither ignored nor secret, regular.
 * Symbolic links are not followed: a target inside the folder is found where it is, one outside is not the
 * workspace's (and may be a secret under a harmless name), and loops cannot happen. What vanishes or cannot be
 * read meanwhile is left out.
 */
export async function* scan(folder: string, path: string, rules: IgnoreRules): AsyncGenerator<FoundFile> {
  if (await isHidden(folder, dirname(path), rules)) return;
  if (path === folder) {
    yield* scanFolder(folder, rules, true);
    return;
  }
  const stats = await lstat(path).catch(() => undefined);
  if (stats?.isDirectory()) yield* scanFolder(path, rules, false);
  else if (stats?.isFile()) yield* scanFile(path, rules);
}

async function* scanFolder(path: string, rules: IgnoreRules, isRoot: boolean): AsyncGenerator<FoundFile> {
  if (!isRoot && (await hidesFolder(path, rules))) return;
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) yield* scanFolder(child, rules, false);
    else if (entry.isFile()) yield* scanFile(child, rules);
  }
}

async function* scanFile(path: string, rules: IgnoreRules): AsyncGenerator<FoundFile> {
  if (isSecretFile(nameOf(path)) || (await rules.ignores(path, 'file'))) return;
  const stats = await lstat(path).catch(() => undefined);
  if (stats?.isFile()) yield { path, size: stats.size, mtimeMs: stats.mtimeMs };
}

/** Whether any folder from below the workspace folder down to this one is ignored, secret or a link. */
async function isHidden(folder: string, path: string, rules: IgnoreRules): Promise<boolean> {
  const parts = relative(folder, path).split(sep);
  if (parts[0] === '' || parts[0] === '..') return false;
  let current = folder;
  for (const part of parts) {
    current = join(current, part);
    if ((await hidesFolder(current, rules)) || (await isLink(current))) return true;
  }
  return false;
}

async function hidesFolder(path: string, rules: IgnoreRules): Promise<boolean> {
  return isSecretFolder(nameOf(path)) || (await rules.ignores(path, 'folder'));
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isSymbolicLink() ?? false;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf(sep) + 1);
}
