import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type CompileOptions, compileModel } from '../../../engine/compile/compileModel.ts';
import { GraphCache } from '../../../engine/compile/graphCache.ts';
import { SlipstreamError } from '../../../engine/errors.ts';
import { openCpuModel } from '../../../engine/model/cpuModel.ts';
import { openModel } from '../../../engine/model/openModel.ts';
import { damageGraph } from '../../damagedGraph.ts';
import { tinyShape, writeRandomCheckpoint } from '../../randomCheckpoint.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const folder = temporaryFolder();

function newFolder(name: string): string {
  return mkdtempSync(join(folder, `${name}-`));
}

function newCheckpoint(seed = 1): string {
  return writeRandomCheckpoint(newFolder('checkpoint'), tinyShape, seed);
}

function options(cacheDir: string): CompileOptions {
  return { precision: 'int8', taps: [], cacheDir };
}

const entriesOf = (cacheDir: string) => readdirSync(join(cacheDir, 'compiled'));

/** When a file was last written, in ns: a cached one keeps its time. */
const writtenAt = (file: string) => statSync(file, { bigint: true }).mtimeNs;

async function argmaxOf(compiled: Awaited<ReturnType<typeof compileModel>>): Promise<number> {
  const model = await openCpuModel(compiled, 1);
  const kv = model.createKvCache(1);
  const { argmax } = await kv.forward({ tokens: Int32Array.of(5), rows: Int32Array.of(0), want: 'argmax' });
  await model.dispose();
  return argmax[0];
}

test('what is compiled once is taken from the cache', async () => {
  const [dir, cacheDir] = [newCheckpoint(), newFolder('cache')];
  const first = await compileModel(dir, options(cacheDir));
  const written = writtenAt(first.graphFile);
  const second = await compileModel(dir, options(cacheDir));
  assert.equal(second.key, first.key);
  assert.equal(writtenAt(second.graphFile), written);
  assert.equal(second.weightBytes, first.weightBytes);
  assert.deepEqual(entriesOf(cacheDir), [first.key]);
});

test('weights, configuration, precision and taps each make another entry; the place does not', async () => {
  const [dir, cacheDir] = [newCheckpoint(), newFolder('cache')];
  const keys = new Set([(await compileModel(dir, options(cacheDir))).key]);
  const add = async (from: string, changed: Partial<CompileOptions> = {}) =>
    keys.add((await compileModel(from, { ...options(cacheDir), ...changed })).key);
  await add(dir, { precision: 'int4' });
  await add(dir, { taps: [1] });
  assert.equal(keys.size, 3);

  // Same size, same name: only the content, and the time of the change, tell.
  writeRandomCheckpoint(dir, tinyShape, 2);
  utimesSync(join(dir, 'model.safetensors'), new Date(), new Date(Date.now() + 5000));
  await add(dir);
  writeRandomCheckpoint(dir, { ...tinyShape, contextLength: 256 }, 2);
  await add(dir);
  assert.equal(keys.size, 5);

  const elsewhere = join(newFolder('elsewhere'), basename(dir));
  writeRandomCheckpoint(elsewhere, { ...tinyShape, contextLength: 256 }, 2);
  await add(elsewhere);
  assert.equal(keys.size, 5);
});

test('products for one row are one operator each', async () => {
  const [dir, cacheDir] = [newCheckpoint(), newFolder('cache')];
  const several = await compileModel(dir, options(cacheDir));
  const one = await compileModel(dir, { ...options(cacheDir), rows: 'one' });
  assert.notEqual(one.key, several.key);
  assert.ok(readFileSync(several.graphFile).includes('MatMulIntegerToFloat'));
  assert.ok(!readFileSync(one.graphFile).includes('MatMulIntegerToFloat'));
  await argmaxOf(one);
});

test('more successors than there are tokens are all tokens', async () => {
  const compiled = await compileModel(newCheckpoint(), { ...options(newFolder('cache')), successors: 1e6 });
  const model = await openCpuModel(compiled, 1);
  const kv = model.createKvCache(1);
  const run = { tokens: Int32Array.of(5), rows: Int32Array.of(0), want: 'argmax' } as const;
  const { argmax, successors } = await kv.forward(run);
  await model.dispose();
  assert.equal(successors?.[0], argmax[0]);
  const everyToken = Array.from({ length: model.info.vocabSize }, (_, token) => token);
  assert.deepEqual(
    [...successors!].sort((a, b) => a - b),
    everyToken,
  );
});

test('an entry that is not whole is made again', async () => {
  const [dir, cacheDir] = [newCheckpoint(), newFolder('cache')];
  const whole = await compileModel(dir, options(cacheDir));
  const expected = await argmaxOf(whole);
  const entry = dirname(whole.graphFile);
  const damages: Record<string, (file: string) => void> = {
    gone: (file) => rmSync(file),
    truncated: (file) => truncateSync(file, statSync(file).size - 1),
    empty: (file) => truncateSync(file, 0),
    zeroed: (file) => writeFileSync(file, Buffer.alloc(statSync(file).size)),
  };
  for (const file of ['weights.bin', 'model.onnx', 'manifest.json']) {
    for (const damage of Object.values(damages)) {
      damage(join(entry, file));
      const again = await compileModel(dir, options(cacheDir));
      assert.equal(again.key, whole.key);
      assert.equal(await argmaxOf(again), expected);
      assert.deepEqual(entriesOf(cacheDir), [whole.key]);
    }
  }
  rmSync(entry, { recursive: true });
  writeFileSync(entry, 'a file where the entry should be');
  assert.equal(await argmaxOf(await compileModel(dir, options(cacheDir))), expected);
});

test('what a killed compilation left is not used, and removed when it is old', async () => {
  const [dir, cacheDir] = [newCheckpoint(), newFolder('cache')];
  const { key } = await compileModel(newCheckpoint(1), options(newFolder('other')));
  const hours = 3_600_000;
  const leftovers = [`${key}.partial-a1b2`, `${key}.partial-c3d4`];
  for (const name of leftovers) {
    mkdirSync(join(cacheDir, 'compiled', name), { recursive: true });
    writeFileSync(join(cacheDir, 'compiled', name, 'weights.bin'), 'half');
  }
  const written = new Date(Date.now() - 2 * hours);
  utimesSync(join(cacheDir, 'compiled', leftovers[0], 'weights.bin'), written, written);
  const compiled = await compileModel(dir, options(cacheDir));
  await argmaxOf(compiled);
  assert.deepEqual(entriesOf(cacheDir).sort(), [compiled.key, leftovers[1]].sort());
});

test('what a killed compilation left long ago goes when what is compiled is opened, too', async () => {
  const [dir, cacheDir] = [newCheckpoint(), newFolder('cache')];
  const { key } = await compileModel(dir, options(cacheDir));
  const leftover = join(cacheDir, 'compiled', `${key}.partial-a1b2`);
  mkdirSync(leftover);
  utimesSync(leftover, new Date(0), new Date(0));
  await compileModel(dir, options(cacheDir));
  for (let waited = 0; existsSync(leftover) && waited < 5000; waited += 10) await setTimeout(10);
  assert.deepEqual(entriesOf(cacheDir), [key]);
});

test('several compilations of the same at once all succeed, in one process and in several', async () => {
  const dir = newCheckpoint();
  const oneProcess = newFolder('cache');
  const all = await Promise.all(Array.from({ length: 5 }, () => compileModel(dir, options(oneProcess))));
  assert.equal(new Set(all.map(({ key }) => key)).size, 1);
  assert.deepEqual(entriesOf(oneProcess), [all[0].key]);

  const shared = newFolder('cache');
  const source = (path: string) => JSON.stringify(new URL(`../../../engine/${path}`, import.meta.url).href);
  const script = `
    import { compileModel } from ${source('compile/compileModel.ts')};
    import { openCpuModel } from ${source('model/cpuModel.ts')};
    const compiled = await compileModel(${JSON.stringify(dir)}, ${JSON.stringify(options(shared))});
    await (await openCpuModel(compiled, 1)).dispose();
    console.log(compiled.key);`;
  const run = promisify(execFile);
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const outputs = await Promise.all(
    Array.from({ length: 3 }, () =>
      run(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], { cwd: root }),
    ),
  );
  for (const { stdout } of outputs) assert.equal(stdout.trim(), all[0].key);
  assert.deepEqual(entriesOf(shared), [all[0].key]);
});

test('a finished entry is not taken from those who read it', async () => {
  const [dir, cacheDir] = [newCheckpoint(), newFolder('cache')];
  const started = compileModel(dir, options(cacheDir));
  const first = await compileModel(dir, options(cacheDir));
  const { ino } = statSync(dirname(first.graphFile));
  await started;
  assert.equal(statSync(dirname(first.graphFile)).ino, ino);
});

test('a broken memory of hashes costs only the hashing', async () => {
  const [dir, cacheDir] = [newCheckpoint(), newFolder('cache')];
  const { key } = await compileModel(dir, options(cacheDir));
  const memory = join(cacheDir, 'content-hashes.json');
  const known = readFileSync(memory, 'utf8');
  const numbers = JSON.stringify(Object.fromEntries(Object.keys(JSON.parse(known)).map((file) => [file, 7])));
  for (const text of ['', '{', 'null', '[]', '7', numbers]) {
    writeFileSync(memory, text);
    assert.equal((await compileModel(dir, options(cacheDir))).key, key);
    assert.deepEqual(JSON.parse(readFileSync(memory, 'utf8')), JSON.parse(known));
  }
});

async function assertIoFault(dir: string, cacheDir: string, words: RegExp): Promise<void> {
  await assert.rejects(compileModel(dir, options(cacheDir)), (error) => {
    assert.ok(error instanceof SlipstreamError, `${error}`);
    assert.equal(error.code, 'io');
    assert.ok(error.message.includes(cacheDir), error.message);
    assert.match(error.message, words);
    return true;
  });
}

test('a cache folder that cannot be one is an io fault that names it', async () => {
  const file = join(newFolder('cache'), 'file');
  writeFileSync(file, '');
  await assertIoFault(newCheckpoint(), file, /cannot be written/);
  assert.equal(readFileSync(file, 'utf8'), '');
});

/** A file system of a given size, where the machine lets us make one. */
function mountTiny(place: string, kilobytes: number): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', place]).status === 0;
}

test('a full disk is said to be full, nothing is left, and what is compiled already still opens', async (t) => {
  const dir = newCheckpoint();
  const cacheDir = newFolder('full');
  if (!mountTiny(cacheDir, 40)) return t.skip('no right to mount a small file system');
  try {
    await assertIoFault(dir, cacheDir, /disk is full/);
    const left = existsSync(join(cacheDir, 'compiled')) ? entriesOf(cacheDir) : [];
    assert.deepEqual(left, []);
  } finally {
    spawnSync('umount', [cacheDir]);
  }
  if (!mountTiny(cacheDir, 400)) return t.skip('no right to mount a small file system');
  try {
    const { key } = await compileModel(dir, options(cacheDir));
    rmSync(join(cacheDir, 'content-hashes.json'));
    spawnSync('sh', ['-c', 'cat /dev/zero > fill'], { cwd: cacheDir });
    assert.equal((await compileModel(dir, options(cacheDir))).key, key);
  } finally {
    spawnSync('umount', [cacheDir]);
  }
});

test('entries that were not used for longest make room', async () => {
  const [dir, cacheDir] = [newCheckpoint(), newFolder('cache')];
  const first = await compileModel(dir, options(cacheDir));
  for (let seed = 2; seed < 30; seed++) {
    writeRandomCheckpoint(dir, tinyShape, seed);
    utimesSync(join(dir, 'model.safetensors'), new Date(), new Date(Date.now() + 1000 * seed));
    await compileModel(dir, options(cacheDir));
  }
  const left = entriesOf(cacheDir);
  assert.equal(left.length, 24);
  assert.ok(!left.includes(first.key), 'the oldest went');
});

test('an entry that was damaged before its checksum was taken is compiled again when it cannot be loaded', async () => {
  const [dir, cacheDir] = [newCheckpoint(), newFolder('cache')];
  const compiled = await compileModel(dir, options(cacheDir));
  const expected = await argmaxOf(compiled);
  damageGraph(compiled.graphFile);
  const notes: string[] = [];
  const { model } = await openModel(dir, {
    device: 'cpu',
    cacheDir,
    threads: 1,
    log: (_level, message) => notes.push(message),
  });
  await model.dispose();
  assert.ok(
    notes.some((note) => note.includes('compiled again')),
    notes.join('\n'),
  );
  assert.equal(await argmaxOf(await compileModel(dir, options(cacheDir))), expected);
});

test('weights that are no numbers are refused by name', async () => {
  const [dir, cacheDir] = [newCheckpoint(), newFolder('cache')];
  const file = join(dir, 'model.safetensors');
  const bytes = readFileSync(file);
  bytes.writeFloatLE(Number.NaN, bytes.length - 4);
  writeFileSync(file, bytes);
  await assert.rejects(compileModel(dir, options(cacheDir)), (error) => {
    assert.ok(error instanceof SlipstreamError, String(error));
    assert.equal(error.code, 'model.corrupt');
    assert.match(error.message, /not numbers/);
    return true;
  });
});

test('what goes wrong while compiling keeps its name: no memory is no full disk, a bug is neither', async () => {
  const cache = new GraphCache(newFolder('cache'));
  const identity = { label: 'a', files: [join(newCheckpoint(), 'config.json')], parameters: [1] };
  const failing = (error: Error) => cache.compile(identity, () => Promise.reject(error));
  const codeOf = (error: SlipstreamError) => error.code;
  await assert.rejects(failing(new RangeError('Array buffer allocation failed')), (error) => {
    assert.equal(codeOf(error as SlipstreamError), 'outOfMemory');
    return true;
  });
  const bug = new TypeError('x is not a function');
  await assert.rejects(failing(bug), bug);
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  await assert.rejects(failing(full), /disk is full/);
});
