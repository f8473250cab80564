import { readFileSync } from 'node:fs';

export type Origin = 'npm' | 'debian' | 'debianSource';
/** `evaluation` packages are read to find their text elsewhere, and to measure; nothing is learned from them. */
export type Purpose = 'train' | 'heldOut' | 'evaluation';

export type PackageList = Readonly<Record<Origin, Readonly<Partial<Record<Purpose, readonly string[]>>>>>;

/** The fixed list of packages in `packages.json`. */
export function readPackageList(): PackageList {
  return JSON.parse(readFileSync(new URL('packages.json', import.meta.url), 'utf8')) as PackageList;
}

/** All names of one origin, whatever their purpose. */
export function namesOf(list: PackageList, origin: Origin): string[] {
  return Object.values(list[origin]).flat();
}

export function purposeOf(list: PackageList, origin: Origin, name: string): Purpose | undefined {
  const purposes = Object.entries(list[origin]) as [Purpose, readonly string[]][];
  return purposes.find(([, names]) => names.includes(name))?.[0];
}
