import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { SlipstreamError } from '../../../engine/errors.ts';
import { openGuarded } from '../../../engine/model/gpuOpening.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

/** No processes have these ids. */
const GONE = ['4194998', '4194999'];

function cacheWithCrashes(crashes: number, hoursAgo: number): { cacheDir: string; folder: string } {
  const cacheDir = temporaryFolder();
  const folder = join(cacheDir, 'gpu-opening');
  mkdirSync(folder);
  const time = Date.now() / 1000 - hoursAgo * 3600;
  for (const pid of GONE.slice(0, crashes)) {
    writeFileSync(join(folder, pid), '');
    utimesSync(join(folder, pid), time, time);
  }
  return { cacheDir, folder };
}

test('while a GPU is being opened there is a file, afterwards none', async () => {
  const cacheDir = temporaryFolder();
  const folder = join(cacheDir, 'gpu-opening');
  const opened = await openGuarded(cacheDir, async () => readdirSync(folder));
  assert.deepEqual(opened, [String(process.pid)]);
  assert.deepEqual(readdirSync(folder), []);
  await assert.rejects(
    openGuarded(cacheDir, () => Promise.reject(new Error('no'))),
    /no/,
  );
  assert.deepEqual(readdirSync(folder), []);
});

test('a GPU that took the engine down twice is left alone, with a message that says until when', async () => {
  const { cacheDir, folder } = cacheWithCrashes(2, 1);
  let tried = false;
  const opening = openGuarded(cacheDir, async () => {
    tried = true;
  });
  await assert.rejects(
    opening,
    (error) =>
      error instanceof SlipstreamError &&
      error.code === 'device.unavailable' &&
      error.message.includes(folder),
  );
  assert.equal(tried, false);
});

test('once may have been a closed window: a success clears it', async () => {
  const { cacheDir, folder } = cacheWithCrashes(1, 1);
  await assert.rejects(
    openGuarded(cacheDir, () => Promise.reject(new Error('no'))),
    /no/,
  );
  assert.equal(readdirSync(folder).length, 1);
  assert.equal(await openGuarded(cacheDir, async () => 'opened'), 'opened');
  assert.deepEqual(readdirSync(folder), []);
});

test('after a day it is tried again', async () => {
  const { cacheDir } = cacheWithCrashes(2, 25);
  assert.equal(await openGuarded(cacheDir, async () => 'opened'), 'opened');
});

test('another engine that is opening a GPU right now does not count as a crash', async () => {
  const cacheDir = temporaryFolder();
  mkdirSync(join(cacheDir, 'gpu-opening'));
  writeFileSync(join(cacheDir, 'gpu-opening', String(process.ppid)), '');
  assert.equal(await openGuarded(cacheDir, async () => 'opened'), 'opened');
});

test('a cache folder that cannot be written does not keep the GPU from opening', async () => {
  assert.equal(await openGuarded('/dev/null/nowhere', async () => 'opened'), 'opened');
});
