/** `slipstream eval`, as built and started as a process: grammars are found beside the bundle. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import type { EvalReport } from '../../engine/eval/evalReport.ts';
import { interruptedAtStart } from '../interrupted.ts';
import { writeOddFolder } from '../oddFolder.ts';
import { temporaryFolder } from '../temporaryFolder.ts';

const sample = 'test/fixtures/sample-workspace';
const scratch = temporaryFolder();

function slipstreamEval(...args: string[]) {
  return spawnSync(process.execPath, ['dist/cli.js', 'eval', ...args], {
    encoding: 'utf8',
    env: { ...process.env, XDG_CACHE_HOME: scratch, LOCALAPPDATA: scratch },
  });
}

test('a table for people, a document for programs', () => {
  const file = join(scratch, 'report.json');
  const args = [sample, '--tasks', '8', '--seed', '3', '--device', 'cpu', '--json', file];
  const { status, stdout, stderr } = slipstreamEval(...args);
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  const report: EvalReport = JSON.parse(readFileSync(file, 'utf8'));
  assert.equal(report.schema_version, 1);
  assert.equal(report.seed, 3);
  assert.equal(report.tasks.length, 8);
  assert.equal(report.results[0].n, 8);
  assert.equal(report.model.device, 'cpu');
  for (const { language, kind, n } of report.results.filter((result) => result.language !== 'all')) {
    assert.match(stdout, new RegExp(`^${language} +${kind} +${n} `, 'm'));
  }
  assert.match(stdout, /seed 3, with workspace context/);
});

test('what was measured is printed even when its file cannot be written', () => {
  // As long as a name can be: what is written beside it first has a longer one.
  const file = join(scratch, `${'r'.repeat(250)}.json`);
  const { status, stdout, stderr } = slipstreamEval(
    sample,
    '--tasks',
    '1',
    '--device',
    'cpu',
    '--json',
    file,
  );
  assert.match(stderr, /^slipstream: --json: \S+ could not be written: [^\n]*\n$/);
  assert.match(stdout, /seed 1, with workspace context/);
  assert.equal(status, 1);
});

test('context can be left out', () => {
  const { status, stdout, stderr } = slipstreamEval(
    sample,
    '--tasks',
    '1',
    '--device',
    'cpu',
    '--no-context',
  );
  assert.equal(status, 0, stderr);
  assert.match(stdout, /without workspace context/);
});

test('a folder of an odd name, with links in circles and files that may not be read', () => {
  const parent = join(scratch, 'odd');
  const name = writeOddFolder(parent, sample);
  const file = join(scratch, 'odd.json');
  const args = ['eval', '--tasks', '2', '--device', 'cpu', '--json', file, '--', name];
  const { status, stderr } = spawnSync(process.execPath, [resolve('dist/cli.js'), ...args], {
    encoding: 'utf8',
    cwd: parent,
    env: { ...process.env, XDG_CACHE_HOME: scratch, LOCALAPPDATA: scratch },
  });
  assert.equal(status, 0, stderr);
  const report: EvalReport = JSON.parse(readFileSync(file, 'utf8'));
  assert.equal(report.folder, name);
  assert.equal(report.tasks.length, 2);
  for (const { path } of report.tasks) assert.ok(existsSync(join(sample, path)), path);
});

test('Ctrl-C ends it, and no file is begun', {
  skip: process.platform === 'win32' && 'no such signal',
}, async () => {
  const reports = join(scratch, 'cancelled');
  mkdirSync(reports);
  const json = join(reports, 'report.json');
  const args = ['eval', sample, '--tasks', '400', '--device', 'cpu', '--json', json];
  const { code, signal, stderr } = await interruptedAtStart(args, join(scratch, 'cancelled-cache'));
  assert.deepEqual([code, signal], [130, null]);
  assert.equal(stderr, 'Cancelled.\n');
  assert.deepEqual(readdirSync(reports), []);
});

const mistakes: readonly (readonly [name: string, args: readonly string[], message: RegExp])[] = [
  ['no folder', [], /DIR is missing/],
  ['no such folder', ['no/such'], /no\/such: no such file or folder/],
  ['a file', ['package.json'], /package\.json: not a folder/],
  ['no tasks', [sample, '--tasks', '0'], /--tasks: "0" is not a whole number of at least 1/],
  ['no number', [sample, '--seed', 'x'], /--seed: "x"/],
  ['an unknown option', [sample, '--kind', 'line'], /--kind/],
  ['a report that cannot be written', [sample, '--json', 'no/such/report.json'], /no\/such: no such/],
  ['nothing to hold back', ['docs'], /docs: there is no code here/],
];

for (const [name, args, message] of mistakes) {
  test(`a mistake is told in one line: ${name}`, () => {
    const { status, stdout, stderr } = slipstreamEval(...args);
    assert.equal(status, 2);
    assert.equal(stdout, '');
    assert.match(stderr, /^slipstream: [^\n]+\n$/);
    assert.match(stderr, message);
  });
}

test('the grammars of all languages lie beside the bundle', () => {
  const files: Record<string, string> = JSON.parse(readFileSync('engine/syntax/grammarFiles.json', 'utf8'));
  const names = [...Object.values(files), 'web-tree-sitter.wasm'].map((path) => path.split('/').at(-1)!);
  for (const name of names) assert.ok(existsSync(join('dist/syntax', name)), name);
});
