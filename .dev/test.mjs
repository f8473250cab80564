/**
 * `npm test`: sets everything up and runs the suites (see suites.mjs); `npm test -- unit` or
 * `npm test -- ngramIndex` runs a part. The last line counts: `N passed, N failed, N skipped`.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureDebianPackages, main, runProgram, SetupError, setUp } from './setup.mjs';
import { selectSuites } from './suites.mjs';

const outcomes = ['passed', 'failed', 'skipped'];

async function runTool(suite) {
  const [program, ...args] = suite.tool;
  const code = await runProgram(process.execPath, [join('node_modules', program), ...args]);
  return [{ outcome: code === 0 ? 'passed' : 'failed', name: suite.name }];
}

async function runFiles(suite, scratch) {
  // `node --test` without a file would look for some by itself.
  if (suite.files.length === 0) return [];
  const results = join(scratch, `${suite.name}.jsonl`);
  const code = await runProgram(
    process.execPath,
    [
      ...['--import', 'tsx', '--test'],
      ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
      ...['--test-reporter=./.dev/countingReporter.mjs', `--test-reporter-destination=${results}`],
      ...suite.files,
    ],
    { timeoutMs: suite.timeoutMs },
  );
  const tests = readResults(results);
  if (code !== 0 && !tests.some(({ outcome }) => outcome === 'failed')) {
    const why =
      code === 'SIGKILL' ? `stopped after ${suite.timeoutMs / 60_000} minutes` : `ended with ${code}`;
    tests.push({ outcome: 'failed', name: suite.name, why });
  }
  return tests;
}

function readResults(path) {
  let lines;
  try {
    lines = readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
  // A run that was killed may have left half a line.
  return lines.filter((line) => line.endsWith('}')).map((line) => readResult(JSON.parse(line)));
}

function readResult(test) {
  return test.outcome === 'empty' ? { ...test, outcome: 'failed', why: 'no test in this file' } : test;
}

async function runSuite(suite, scratch) {
  console.log(`\n=== ${suite.name}`);
  try {
    await ensureDebianPackages(suite.packages ?? []);
    return await (suite.tool ? runTool(suite) : runFiles(suite, scratch));
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return [{ outcome: 'failed', name: suite.name, why: error.message }];
  }
}

const count = (tests, wanted) => tests.filter(({ outcome }) => outcome === wanted).length;

const counts = (tests) => outcomes.map((outcome) => `${count(tests, outcome)} ${outcome}`).join(', ');

function printSummary(results) {
  console.log('\n=== summary');
  for (const [name, tests] of results) console.log(`${name.padEnd(10)} ${counts(tests)}`);
  for (const { outcome, name, file, why } of [...results.values()].flat()) {
    if (outcome !== 'passed')
      console.log(`${outcome}: ${name}${file ? ` (${file})` : ''}${why ? `: ${why}` : ''}`);
  }
}

/** A suite of which no test passed or failed did not run, whatever its exit code says. */
function failSuitesThatRanNothing(chosen, results) {
  for (const { name } of chosen) {
    const tests = results.get(name) ?? [];
    if (!tests.some(({ outcome }) => outcome !== 'skipped')) {
      results.set(name, [...tests, { outcome: 'failed', name, why: 'the suite ran no test' }]);
    }
  }
}

await main(async () => {
  await setUp();
  const chosen = selectSuites(process.argv.slice(2));
  const scratch = mkdtempSync(join(tmpdir(), 'slipstream-test-'));
  const results = new Map();
  try {
    for (const suite of chosen) results.set(suite.name, await runSuite(suite, scratch));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  failSuitesThatRanNothing(chosen, results);
  printSummary(results);
  const all = [...results.values()].flat();
  console.log(counts(all));
  return count(all, 'failed') > 0 ? 1 : 0;
});
