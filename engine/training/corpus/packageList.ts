import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

export type Origin = 'npm' | 'debian' | 'debianSource';
/** `evaluation` packages are read to find their text elsewhere, and to measure; nothing is learned from them. */
export type Purpose = 'train' | 'heldOut' | 'evaluation';

export type PackageList = Readonly<Record<Origin, Readonly<Partial<Record<Purpose, readonly string[]>>>>>;

/**
 * Which list a script works with: `--packages FILE`, else `packages.json` beside this file. What was used of it is
 * recorded in `lock`: a list of its own has its record beside it.
 */
export function chosenList(): { readonly list: URL; readonly lock: URL } {
  const { packages } = parseArgs({ options: { packages: { type: 'string' } } }).values;
  if (packages === undefined) {
    return {
      list: new URL('packages.json', import.meta.url),
      lock: new URL('../corpus.lock.json', import.meta.url),
    };
  }
  const list = pathToFileURL(packages);
  return { list, lock: new URL('corpus.lock.json', list) };
}

export function readPackageList(list: URL): PackageList {
  return JSON.parse(readFileSync(list, 'utf8')) as PackageList;
}

/** All names of one origin, whatever their purpose. */
export function namesOf(list: PackageList, origin: Origin): string[] {
  return Object.values(list[origin]).flat();
}

export function purposeOf(list: PackageList, origin: Origin, name: string): Purpose | undefined {
  const purposes = Object.entries(list[origin]) as [Purpose, readonly string[]][];
  return purposes.find(([, names]) => names.includes(name))?.[0];
}
