import { type Dirent, existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { languageOf } from './languages.ts';
import { readCargoManifest, readDebianCopyright, readNpmManifest, readPythonMetadata } from './licence.ts';
import type { Origin } from './packageList.ts';

/** An unpacked package whose licence lets us learn from it. */
export interface ReadablePackage {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** Paths relative to `root`, in a fixed order. */
  readonly paths: readonly string[];
  readonly root: string;
}

function filesBelow(root: string): string[] {
  const found: string[] = [];
  const visit = (folder: string) => {
    const entries: Dirent[] = readdirSync(folder, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && entry.name !== 'node_modules' && entry.name !== '.git') visit(path);
      else if (entry.isFile()) found.push(relative(root, path).split(sep).join('/'));
    }
  };
  visit(root);
  return found;
}

function readIfThere(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

const MIN_TYPESCRIPT_FILES = 6;

/** A package that ships its TypeScript ships what was compiled from it too: only the source is kept. */
function withoutCompiledTwins(paths: readonly string[]): readonly string[] {
  const isSource = (path: string) => /\.tsx?$|\.mts$/.test(path) && !/\.d\.m?ts$/.test(path);
  if (paths.filter(isSource).length < MIN_TYPESCRIPT_FILES) return paths;
  return paths.filter((path) => !/\.[mc]?jsx?$|\.d\.m?ts$/.test(path));
}

function readNpm(root: string): ReadablePackage | undefined {
  const text = readIfThere(join(root, 'package.json'));
  if (!text) return undefined;
  const manifest = JSON.parse(text) as { name: string; version: string; license?: unknown };
  const licence = readNpmManifest(manifest);
  if (!licence) return undefined;
  const paths = withoutCompiledTwins(filesBelow(root).filter((path) => languageOf(path)));
  return { name: manifest.name, version: manifest.version, licence, paths, root };
}

/** The package's own metadata: what it vendors has some too, deeper down. */
const PYTHON_METADATA =
  /^usr\/lib\/python3[^/]*\/dist-packages\/[^/]+\.(dist|egg)-info\/(METADATA|PKG-INFO)$/;
const CARGO_MANIFEST = /^usr\/share\/cargo\/registry\/[^/]+\/Cargo\.toml$/;

/** What a binary package says about its upstream beside Debian's own copyright file. */
function upstreamLicence(root: string, paths: readonly string[]): string | undefined {
  for (const path of paths) {
    const read = () => readFileSync(join(root, path), 'utf8');
    if (PYTHON_METADATA.test(path)) return readPythonMetadata(read());
    if (CARGO_MANIFEST.test(path)) return readCargoManifest(read());
  }
  return undefined;
}

function readDebian(root: string, copyrightPath: string): ReadablePackage | undefined {
  const [name, version] = basename(root).split('@') as [string, string];
  const verdict = readDebianCopyright(readIfThere(join(root, copyrightPath)) ?? '');
  if (verdict.kind === 'refused') return undefined;
  const paths = filesBelow(root);
  const licence = verdict.kind === 'permissive' ? verdict.licence : upstreamLicence(root, paths);
  if (!licence) return undefined;
  const readable = paths.filter((path) => languageOf(path) && !/^(usr\/share\/doc|debian)\//.test(path));
  return { name, version, licence, paths: readable.filter(verdict.allows), root };
}

/** Reads what may be learned from an unpacked package; undefined when its licence is not known to be permissive. */
export function readPackage(origin: Origin, root: string): ReadablePackage | undefined {
  if (origin === 'npm') return readNpm(root);
  const name = basename(root).split('@')[0]!;
  return readDebian(root, origin === 'debian' ? `usr/share/doc/${name}/copyright` : 'debian/copyright');
}
