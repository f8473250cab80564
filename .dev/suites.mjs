/**
 * Every suite of `npm test`, in the order they run. A suite in this list that does not run, or runs no test,
 * fails the whole.
 */
import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { root, SetupError } from './setup.mjs';

const minutes = 60_000;

/** A Vulkan driver in software (it comes with Chromium), for the tests of the GPU path. */
const softwareGpu = ['chromium', 'libvulkan1'];

/**
 * `tool` is a program of node_modules whose exit code is the result and counts as one test; a suite without
 * one runs the `*.test.ts` files of its folder. `packages` are Debian packages that it needs.
 */
const suites = [
  { name: 'lint', tool: ['@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'] },
  { name: 'typecheck', tool: ['typescript/bin/tsc', '--noEmit'] },
  { name: 'webview-types', tool: ['typescript/bin/tsc', '--noEmit', '-p', 'media'] },
  { name: 'knip', tool: ['knip/bin/knip.js'] },
  { name: 'unit', folder: 'test/unit', packages: [...softwareGpu, 'python3'], timeoutMs: 10 * minutes },
  { name: 'engine', folder: 'test/engine', packages: softwareGpu, timeoutMs: 10 * minutes },
  {
    name: 'vscode',
    folder: 'test/vscode',
    packages: ['chromium', 'libkrb5-dev', 'pkg-config'],
    timeoutMs: 20 * minutes,
  },
];

/** @returns paths relative to the root, with forward slashes */
function testFiles(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) =>
      relative(root, join(entry.parentPath ?? entry.path, entry.name))
        .split(sep)
        .join('/'),
    )
    .sort();
}

/**
 * What of a suite the words of the command line ask for: suites by name, test files by any part of their
 * path; no word asks for everything.
 * @returns the suite with its files, or undefined when no word means it
 */
function select(suite, words) {
  const files = suite.folder ? testFiles(suite.folder) : [];
  if (words.length === 0 || words.includes(suite.name)) return { ...suite, files };
  const asked = files.filter((file) => words.some((word) => !isSuite(word) && file.includes(word)));
  return asked.length > 0 ? { ...suite, files: asked } : undefined;
}

const isSuite = (word) => suites.some(({ name }) => name === word);

/** @returns the suites to run; throws when a word means nothing */
export function selectSuites(words) {
  for (const word of words) {
    if (!suites.some((suite) => select(suite, [word]))) {
      throw new SetupError(
        `"${word}" is neither a suite (${suites.map(({ name }) => name).join(', ')}) nor part of a test file's path.`,
      );
    }
  }
  return suites.map((suite) => select(suite, words)).filter(Boolean);
}
