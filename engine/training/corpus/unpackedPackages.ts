import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Origin } from './packageList.ts';

/** The packages in a folder of unpacked ones, each by its own folder, in a fixed order; those half unpacked are left out. */
export function unpackedPackages(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => !name.endsWith('.partial'));
  return names.sort().map((name) => join(folder, name));
}

/** Which of these packages of an origin are not in its folder of unpacked ones. */
export function missingPackages(origin: Origin, names: readonly string[], folder: string): string[] {
  const found = new Set(unpackedPackages(folder).map((root) => nameOf(origin, root)));
  return names.filter((name) => !found.has(name));
}

function nameOf(origin: Origin, root: string): string | undefined {
  return origin === 'npm' ? npmName(join(root, 'package.json')) : basename(root).split('@')[0];
}

/** By its manifest: the folder's name does not tell a scope from the beginning of a name. */
function npmName(manifest: string): string | undefined {
  if (!existsSync(manifest)) return undefined;
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { name: string }).name;
}
