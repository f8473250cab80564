import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';

/** Files of one project, as an editor's workspace would hold them. */
export interface BenchWorkspace {
  readonly name: string;
  readonly documents: readonly BenchDocument[];
}

export interface BenchDocument {
  /** Its path in the workspace, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/**
 * Packages that the embedded model was not trained on, each with its files as people write them: one build of those
 * that are published built, since five builds of the same source would repeat each other word for word.
 */
const heldOutPackages: Readonly<Record<string, RegExp>> = {
  xstate: /^dist\/[^/]+\.development\.esm\.js$/,
  koa: /^lib\/.+\.js$/,
  luxon: /^src\/.+\.js$/,
  fastify: /^(fastify\.js|(lib|test)\/.+\.js)$/,
  swr: /^dist\/.+\.mjs$/,
};

/** The held-out packages, as installed. */
export async function heldOutWorkspaces(): Promise<BenchWorkspace[]> {
  return Promise.all(
    Object.entries(heldOutPackages).map(async ([name, files]) => ({
      name,
      documents: await readDocuments(packageFolder(name), files),
    })),
  );
}

/** Their folders as published: with all builds of the same source, and their declarations. */
export const heldOutFolders = (): string[] => Object.keys(heldOutPackages).map(packageFolder);

/** By its place beside the other packages: not every package lets its package.json be resolved. */
function packageFolder(name: string): string {
  const modules = dirname(dirname(createRequire(import.meta.url).resolve('simple-statistics/package.json')));
  return join(modules, name);
}

async function readDocuments(folder: string, files: RegExp): Promise<BenchDocument[]> {
  const entries = await readdir(folder, { recursive: true });
  const paths = entries.map((entry) => entry.split(sep).join('/')).filter((path) => files.test(path));
  // Sorted: the tasks of a seed are the same on every file system.
  return Promise.all(
    paths.sort().map(async (path) => ({ path, text: await readFile(join(folder, path), 'utf8') })),
  );
}
