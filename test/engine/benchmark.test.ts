/** The benchmark as built: `slipstream bench` as a process, and the engine's request. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { CancellationTokenSource, ResponseError } from 'vscode-jsonrpc/node';
import type * as protocol from '../../engine/protocol.ts';
import * as methods from '../../engine/protocolMethods.ts';
import { interruptedAtStart } from '../interrupted.ts';
import { writeOddFolder } from '../oddFolder.ts';
import { temporaryFolder } from '../temporaryFolder.ts';
import { waitFor } from '../waitFor.ts';
import { bundleEngine, bundleScriptedEngine, initializeParams, startEngine } from './engineUnderTest.ts';

const sample = 'test/fixtures/sample-workspace';
const scratch = temporaryFolder();
const environment = { ...process.env, XDG_CACHE_HOME: scratch, LOCALAPPDATA: scratch };
const cpu = ['--device', 'cpu'];

let engine: string;
before(async () => {
  engine = await bundleEngine();
});

function bench(...args: string[]) {
  return spawnSync(process.execPath, ['dist/cli.js', 'bench', ...args], {
    encoding: 'utf8',
    env: environment,
  });
}

function read(file: string): protocol.BenchmarkReport {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** What a run says that does not depend on time. */
function timeless({ tasks, runs, results, traces }: protocol.BenchmarkReport) {
  return {
    tasks,
    runs: runs.map(({ task, algorithm, text, completion_tokens }) => [
      task,
      algorithm,
      text,
      completion_tokens,
    ]),
    results: results.map(({ algorithm, task_class, exact_match }) => [algorithm, task_class, exact_match]),
    traces: traces.map(({ task, algorithm }) => [task, algorithm]),
  };
}

/** A module that makes a process believe that its stderr is a terminal: then it tells its progress. */
const somebodyLooks = 'data:text/javascript,process.stderr.isTTY = true';

describe('on the command line', () => {
  const args = [
    sample,
    '--algorithms',
    'NONE,ngram',
    '--tasks',
    '2',
    '--seed',
    '5',
    '--max-new-tokens',
    '16',
    ...cpu,
  ];

  test('a table for people, a document for programs, the same tasks for the same seed', () => {
    const file = join(scratch, 'report.json');
    const { status, stdout, stderr } = bench(...args, '--json', file);
    assert.equal(status, 0, stderr);
    assert.equal(stderr, '');
    const report = read(file);
    assert.equal(report.schema_version, 1);
    assert.deepEqual(report.algorithms, ['none', 'ngram']);
    assert.equal(report.seed, 5);
    assert.equal(report.cancelled, false);
    assert.equal(report.material.kind, 'folder');
    assert.equal(report.model.device, 'cpu');
    assert.deepEqual(
      report.tasks.map(({ task_class }) => task_class),
      ['end_of_line', 'block'],
    );
    assert.equal(report.results.length, 2 * 3);
    assert.ok(report.results.every(({ lossless, tokens_per_s }) => lossless && tokens_per_s > 0));
    assert.deepEqual(report.differences, []);
    assert.equal(report.runs.length, 4);
    const textOf = ({ steps }: protocol.CompletionTrace) => steps.map(({ text }) => text).join('');
    assert.deepEqual(new Set(report.traces.map(({ task }) => task)).size, 2);
    for (const trace of report.traces) {
      const plain = report.traces.find(({ task, algorithm }) => task === trace.task && algorithm === 'none')!;
      assert.equal(textOf(trace), textOf(plain));
      assert.ok(textOf(trace).length > 0);
    }
    assert.match(stdout, /^all \(2\) +none +\d+ +1\.00x/m);
    assert.ok(stdout.trimEnd().endsWith(report.summary));

    const again = join(scratch, 'again.json');
    assert.equal(bench(...args, '--json', again).status, 0);
    assert.deepEqual(timeless(read(again)), timeless(report));
  });

  test('what was measured is printed even when its file cannot be written', () => {
    // As long as a name can be: what is written beside it first has a longer one.
    const file = join(scratch, `${'r'.repeat(250)}.json`);
    const asked = ['--algorithms', 'none', '--tasks', '1', '--max-new-tokens', '4', ...cpu, '--json', file];
    const { status, stdout, stderr } = bench(sample, ...asked);
    assert.match(stderr, /slipstream: --json: \S+ could not be written: [^\n]*\n$/);
    assert.match(stdout, /^all \(1\) +none/m);
    assert.equal(status, 1);
  });

  test('Ctrl-C ends it with what is there', {
    skip: process.platform === 'win32' && 'no such signal',
  }, async (t) => {
    const file = join(scratch, 'cancelled.json');
    const asked = ['--algorithms', 'none', '--tasks', '100', ...cpu, '--json', file];
    const child = spawn(
      process.execPath,
      ['--import', somebodyLooks, 'dist/cli.js', 'bench', sample, ...asked],
      { env: environment, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    t.after(() => child.kill('SIGKILL'));
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    const hasResults = () => /Measuring .* [1-9]\d*\/100/.test(stderr);
    await waitFor('the first result', hasResults, 120_000, () => stderr);
    child.kill('SIGINT');
    const [code] = await once(child, 'close');
    assert.equal(code, 130);
    const report = read(file);
    assert.ok(report.cancelled && report.tasks.length < 100);
    assert.match(stdout, /Cancelled: these are the tasks that were done by then\./);
  });

  test('Ctrl-C before anything is measured leaves no file', {
    skip: process.platform === 'win32' && 'no such signal',
  }, async () => {
    const reports = join(scratch, 'cancelled');
    mkdirSync(reports);
    const args = ['bench', sample, '--tasks', '400', ...cpu, '--json', join(reports, 'report.json')];
    const { code, signal } = await interruptedAtStart(args, join(scratch, 'cancelled-cache'));
    assert.deepEqual([code, signal], [130, null]);
    assert.deepEqual(readdirSync(reports), []);
  });

  test('a folder of an odd name, with links in circles and files that may not be read', () => {
    const parent = join(scratch, 'odd');
    const name = writeOddFolder(parent, sample);
    const file = join(scratch, 'odd.json');
    const asked = ['--algorithms', 'ngram', '--tasks', '2', '--max-new-tokens', '8', ...cpu, '--json', file];
    const { status, stderr } = spawnSync(
      process.execPath,
      [resolve('dist/cli.js'), 'bench', ...asked, '--', name],
      { encoding: 'utf8', cwd: parent, env: environment },
    );
    assert.equal(status, 0, stderr);
    const report = read(file);
    assert.equal(report.material.name, name);
    assert.equal(report.tasks.length, 2);
    for (const { path } of report.tasks) assert.ok(existsSync(join(sample, path)), path);
  });

  const mistakes: readonly (readonly [name: string, args: readonly string[], message: RegExp])[] = [
    ['no folder', [], /DIR is missing/],
    ['no such folder', ['no/such'], /no\/such: no such file or folder/],
    ['no code', ['docs'], /docs: there is no code here with a place to complete/],
    [
      'an unknown algorithm',
      [sample, '--algorithms', 'none,magic'],
      /--algorithms: "magic" is not one of auto, none/,
    ],
    ['no tasks', [sample, '--tasks', '0'], /--tasks: "0" is not a whole number of at least 1/],
    ['no number', [sample, '--seed', '-1x'], /--seed/],
    ['no tokens', [sample, '--max-new-tokens', '0'], /--max-new-tokens/],
    [
      'more tokens than fit',
      [sample, '--max-new-tokens', '100000', ...cpu],
      /100000 new tokens leave too little/,
    ],
    ['no such model', [sample, '--model', 'no/model'], /no\/model: no such file or folder/],
    ['a report that cannot be written', [sample, '--json', 'no/such/report.json'], /no\/such: no such/],
  ];
  for (const [name, mistaken, message] of mistakes) {
    test(`${name}: one line, exit code 2`, () => {
      const { status, stdout, stderr } = bench(...mistaken);
      assert.match(stderr, message);
      assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
      assert.equal(stdout, '');
      assert.equal(status, 2);
    });
  }
});

describe('in the engine process', () => {
  const params = { algorithms: ['ngram'], tasks: 2, seed: 1, maxNewTokens: 8, progressToken: 1 } as const;

  test('measures on the workspace, reports progress, and suggests nothing meanwhile', async () => {
    const folder = join(scratch, 'workspace');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'a.ts'), readFileSync(join(sample, 'src/bookings.ts')));
    const { connection, process } = startEngine(engine);
    const uri = pathToFileURL(folder).href;
    const workspaceFolders = [{ uri, name: 'workspace', exclude: [] }];
    await connection.sendRequest(methods.initialize, { ...initializeParams(), workspaceFolders });
    const text = 'const a = ';
    await connection.sendNotification(methods.didOpen, {
      uri: `${uri}/b.ts`,
      languageId: 'typescript',
      version: 1,
      text,
    });
    const progress: protocol.BenchmarkProgress[] = [];
    connection.onProgress(methods.benchmarkProgress, 1, (one) => void progress.push(one));
    const running = connection.sendRequest(methods.runBenchmark, params);
    const place = {
      uri: `${uri}/b.ts`,
      version: 1,
      position: { line: 0, character: text.length },
      indentation: { insertSpaces: true, tabSize: 2 },
    };
    const suggestion = await connection.sendRequest(methods.complete, {
      ...place,
      partialTextToken: 0,
    });
    assert.deepEqual(suggestion, { kind: 'empty', reason: 'a benchmark is running' });
    const alternatives = { ...place, count: 2, known: [] };
    assert.deepEqual(await connection.sendRequest(methods.alternatives, alternatives), {
      kind: 'alternatives',
      suggestions: [],
    });
    const report = (await running)!;
    assert.equal(report.material.kind, 'workspace');
    assert.deepEqual(report.algorithms, ['none', 'ngram']);
    assert.ok(report.tasks.every(({ path }) => path === 'a.ts'));
    assert.deepEqual(progress.at(-1), {
      ...progress.at(-1),
      phase: 'measuring',
      done: 4,
      total: 4,
      remainingMs: 0,
    });
    assert.deepEqual(
      [...new Set(progress.map(({ phase }) => phase))],
      ['preparing', 'warmingUp', 'measuring'],
    );
    process.kill();
  });

  test('completes the sample files where there is no workspace', async () => {
    const { connection, process } = startEngine(engine);
    await connection.sendRequest(methods.initialize, initializeParams());
    const report = (await connection.sendRequest(methods.runBenchmark, params))!;
    assert.equal(report.material.kind, 'sample');
    assert.match(report.notes.join('\n'), /sample files/);
    process.kill();
  });

  test('a cancel ends it, bad requests and faults are named, and a shutdown does not wait', async () => {
    const { connection, exit } = startEngine(await bundleScriptedEngine());
    await connection.sendRequest(methods.initialize, initializeParams());
    const source = new CancellationTokenSource();
    const reported = new Promise<protocol.BenchmarkProgress>((resolve) => {
      connection.onProgress(methods.benchmarkProgress, 1, resolve);
    });
    const running = connection.sendRequest(methods.runBenchmark, params, source.token);
    assert.deepEqual(await reported, { phase: 'measuring', done: 1, total: 2, detail: 'Measuring' });
    source.cancel();
    assert.equal(await running, null);

    const refused = async (bad: object) => {
      const error = await connection
        .sendRequest('runBenchmark', { ...params, ...bad })
        .catch((reason) => reason);
      assert.ok(error instanceof ResponseError);
      return error.message;
    };
    assert.match(await refused({ algorithms: ['magic'] }), /runBenchmark\.algorithms\[0\]: expected one of/);
    assert.match(await refused({ tasks: 0 }), /runBenchmark\.tasks/);
    assert.equal(await refused({ tasks: 13 }), 'thirteen tasks are too many');

    const last = connection.sendRequest(methods.runBenchmark, params);
    await connection.sendRequest(methods.shutdown);
    assert.equal(await last, null);
    assert.deepEqual(await exit, { code: 0, signal: null });
  });
});
