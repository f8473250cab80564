import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { fileEntries, fileTable } from '../../../engine/workspace/fileTable.ts';
import {
  readSnapshot,
  type StoredFolder,
  snapshotFile,
  writeSnapshot,
} from '../../../engine/workspace/persistedIndex.ts';
import { put, temporaryFolder } from '../../temporaryFolder.ts';

const key = { folder: '/project/ünï', tokenizer: 'abc' };
const files = [
  { path: 'src/a.ts', size: 10, mtimeMs: 1732900000000.25, tokenCount: 3 },
  { path: 'odd\n"näme" 🎉', size: 0, mtimeMs: 0, tokenCount: 0 },
  { path: 'b', size: 2 ** 40, mtimeMs: -1, tokenCount: 2 },
];
const snapshot: StoredFolder = {
  files: fileTable(files),
  tokens: Uint16Array.of(1, 2, 65534, 4, 5),
  windows: Uint16Array.of(2, 7, 65535, 65535, 65535),
};

test('a snapshot comes back as it was, in 16 and 32 bits', async () => {
  const cacheDir = temporaryFolder();
  const file = snapshotFile(cacheDir, key);
  for (const tokens of [snapshot.tokens, Int32Array.of(1, 2, 151_000, 4, 5)]) {
    await writeSnapshot(file, key, { ...snapshot, tokens });
    const read = await readSnapshot(file, key);
    assert.deepEqual(read?.tokens, tokens);
    assert.deepEqual(read?.windows, snapshot.windows);
    assert.deepEqual([...fileEntries(read!.files)], files);
  }
  assert.equal(readdirSync(dirname(file)).length, 1, 'nothing temporary stays');
});

test('empty parts are no damage', async () => {
  const file = snapshotFile(temporaryFolder(), key);
  const empty = new Uint16Array(0);
  for (const part of [{ windows: empty }, { tokens: empty }, { tokens: empty, windows: empty }]) {
    await writeSnapshot(file, key, { ...snapshot, ...part });
    const read = await readSnapshot(file, key);
    assert.deepEqual(
      { tokens: read?.tokens, windows: read?.windows },
      { tokens: snapshot.tokens, windows: snapshot.windows, ...part },
    );
  }
});

test('no file is no snapshot', async () => {
  assert.equal(await readSnapshot(snapshotFile(temporaryFolder(), key), key), undefined);
});

test('any damage is noticed', async () => {
  const file = snapshotFile(temporaryFolder(), key);
  await writeSnapshot(file, key, snapshot);
  const good = readFileSync(file);
  await fc.assert(
    fc.asyncProperty(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
      const bad = Buffer.from(good);
      bad[at] ^= flip;
      writeFileSync(file, bad);
      await assert.rejects(readSnapshot(file, key), { code: 'io', message: /is rebuilt/ });
    }),
  );
  for (const length of [0, 1, 15, 16, 40, good.length - 1]) {
    writeFileSync(file, good.subarray(0, length));
    await assert.rejects(readSnapshot(file, key), { code: 'io' }, `${length} bytes`);
  }
});

test('a snapshot of another folder or tokenizer is not taken', async () => {
  const cacheDir = temporaryFolder();
  const file = snapshotFile(cacheDir, key);
  await writeSnapshot(file, key, snapshot);
  for (const other of [
    { ...key, tokenizer: 'new' },
    { ...key, folder: '/else' },
  ]) {
    await assert.rejects(readSnapshot(file, other), { code: 'io' });
    assert.notEqual(snapshotFile(cacheDir, other), file);
  }
});

test('when saving fails, the old snapshot and no half-written one is there', async () => {
  const cacheDir = temporaryFolder();
  put(join(cacheDir, 'ngrams'), 'a file where the folder should be');
  await assert.rejects(writeSnapshot(snapshotFile(cacheDir, key), key, snapshot), { code: 'io' });
  assert.deepEqual(readdirSync(cacheDir), ['ngrams']);
});

test('what nobody uses any more goes: old folders, and what a killed writer left', async () => {
  const cacheDir = temporaryFolder();
  const file = snapshotFile(cacheDir, key);
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true });
  const put = (name: string, ageMs: number) => {
    const used = new Date(Date.now() - ageMs);
    writeFileSync(join(folder, name), 'x');
    utimesSync(join(folder, name), used, used);
  };
  for (let i = 0; i < 70; i++) put(`${i}.idx`, 60_000 * (i + 1));
  put('a.idx.left-by-a-kill', 7_200_000);
  put('b.idx.being-written', 1000);
  await writeSnapshot(file, key, snapshot);
  const left = readdirSync(folder);
  assert.ok(left.includes('b.idx.being-written') && !left.includes('a.idx.left-by-a-kill'));
  const whole = left.filter((name) => name.endsWith('.idx'));
  assert.equal(whole.length, 64);
  assert.ok(whole.includes('62.idx') && !whole.includes('63.idx'), 'the newest stay');
  assert.ok(await readSnapshot(file, key));
});
