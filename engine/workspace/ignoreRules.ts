import { existsSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import picomatch from 'picomatch';
import { readRegular } from '../regularFile.ts';

/** What no repository means to be code of its own. A .gitignore can take any of it back ("!dist.min.js"). */
const DEFAULTS = [
  'node_modules/',
  'bower_components/',
  '__pycache__/',
  '.venv/',
  'venv/',
  '*.min.js',
  '*.min.css',
  '*.map',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'Cargo.lock',
  'poetry.lock',
  'uv.lock',
  'Pipfile.lock',
  'composer.lock',
  'Gemfile.lock',
  'go.sum',
  'flake.lock',
];

const VERSION_CONTROL: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', '.jj']);

interface Rules {
  /** Patterns are relative to this folder. */
  readonly base: string;
  readonly patterns: Ignore;
}

/**
 * Which paths of a workspace folder git and the editor ignore: the .gitignore files of every folder from the
 * repository's root down (a deeper one wins), .git/info/exclude, and the editor's `files.exclude` globs. Reads
 * each file once; make a new one when they may have changed.
 */
export class IgnoreRules {
  readonly #folder: string;
  readonly #excluded: (path: string) => boolean;
  readonly #inner: ReadonlySet<string>;
  readonly #byFolder = new Map<string, Promise<readonly Rules[]>>();

  /**
   * @param exclude globs relative to the folder, as the editor's `files.exclude` has them
   * @param inner folders inside it that are not this folder's
   */
  constructor(folder: string, exclude: readonly string[], inner: readonly string[] = []) {
    this.#folder = folder;
    this.#excluded = globs(exclude);
    this.#inner = new Set(inner);
  }

  /** Whether the path itself is ignored, given that no folder above it is. */
  async ignores(path: string, kind: 'file' | 'folder'): Promise<boolean> {
    const name = path.slice(path.lastIndexOf(sep) + 1);
    if (VERSION_CONTROL.has(name) || this.#inner.has(path)) return true;
    if (this.#excluded(slashed(relative(this.#folder, path)))) return true;
    return isIgnored(path, kind, await this.#rulesIn(dirname(path)));
  }

  /** The rules that hold in a folder, deepest first. */
  #rulesIn(folder: string): Promise<readonly Rules[]> {
    let rules = this.#byFolder.get(folder);
    if (rules === undefined) {
      rules = this.#readRules(folder);
      this.#byFolder.set(folder, rules);
    }
    return rules;
  }

  async #readRules(folder: string): Promise<readonly Rules[]> {
    const own = await patternsOf(join(folder, '.gitignore'));
    const rules: Rules[] = own === undefined ? [] : [{ base: folder, patterns: own }];
    const isRoot = existsSync(join(folder, '.git')) || dirname(folder) === folder;
    if (!isRoot && (folder !== this.#folder || (await this.#isPartOfRepositoryAbove()))) {
      return [...rules, ...(await this.#rulesIn(dirname(folder)))];
    }
    const local = await patternsOf(join(folder, '.git', 'info', 'exclude'));
    if (local !== undefined) rules.push({ base: folder, patterns: local });
    return [...rules, { base: folder, patterns: newPatterns().add(DEFAULTS) }];
  }

  /** A folder that git ignores, such as a dependency's, can be opened too: it is no part of the repository around it. */
  async #isPartOfRepositoryAbove(): Promise<boolean> {
    if (!hasRepositoryAbove(this.#folder)) return false;
    for (let folder = this.#folder; !existsSync(join(folder, '.git')); folder = dirname(folder)) {
      if (isIgnored(folder, 'folder', await this.#rulesIn(dirname(folder)))) return false;
    }
    return true;
  }
}

/** Given that no folder above it is. @param rules deepest first */
function isIgnored(path: string, kind: 'file' | 'folder', rules: readonly Rules[]): boolean {
  for (const { base, patterns } of rules) {
    const relativePath = slashed(relative(base, path)) + (kind === 'folder' ? '/' : '');
    if (!ignore.isPathValid(relativePath)) return true;
    if (inheritsFrom(patterns, slashed(relative(base, dirname(path))))) continue;
    const { ignored, unignored } = patterns.test(relativePath);
    if (ignored || unignored) return ignored;
  }
  return false;
}

/**
 * Whether these patterns ignore the folder around a path. As it is not ignored, deeper patterns took it back, and
 * what these say about the path only follows from the folder.
 */
function inheritsFrom(patterns: Ignore, around: string): boolean {
  return around !== '' && patterns.ignores(`${around}/`);
}

function hasRepositoryAbove(folder: string): boolean {
  for (let above = dirname(folder); ; above = dirname(above)) {
    if (existsSync(join(above, '.git'))) return true;
    if (above === dirname(above)) return false;
  }
}

async function patternsOf(file: string): Promise<Ignore | undefined> {
  try {
    return newPatterns().add((await readRegular(file)).toString());
  } catch {
    return undefined; // not there, no file, not readable or no rules: git goes on too
  }
}

function newPatterns(): Ignore {
  return ignore({ ignorecase: process.platform !== 'linux' });
}

function globs(exclude: readonly string[]): (path: string) => boolean {
  const matchers = exclude.flatMap((glob) => {
    try {
      return [picomatch(glob, { dot: true })];
    } catch {
      return []; // no glob: it matches nothing in the editor either
    }
  });
  return (path) => matchers.some((matches) => matches(path));
}

function slashed(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}
