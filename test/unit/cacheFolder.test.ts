import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { cacheFault, makeFolder } from '../../engine/cacheFolder.ts';
import { temporaryFolder } from '../temporaryFolder.ts';

test('a folder and those above it are made, by several at once too', async () => {
  const folder = join(temporaryFolder(), 'a', 'b', 'c');
  await Promise.all([makeFolder(folder), makeFolder(folder), makeFolder(join(folder, 'd'))]);
  assert.ok(existsSync(join(folder, 'd')));
});

test('where no folder can be is said at once, and nothing is made', async () => {
  const folder = temporaryFolder({ file: '' });
  await assert.rejects(makeFolder(join(folder, 'file')), { code: 'EEXIST' });
  await assert.rejects(makeFolder(join(folder, 'file', 'a', 'b')), { code: /EEXIST|ENOTDIR/ });
});

test('a file system that has no folders but its own is left alone', {
  skip: process.platform !== 'linux' && 'there is no /proc',
}, async () => {
  await assert.rejects(makeFolder('/proc/slipstream/compiled'), { code: 'ENOENT' });
});

test('a fault names the cache folder and says why, in words', () => {
  const words = { EROFS: /read-only/, ENOTDIR: /not a folder/, EACCES: /may not be written/, EIO: /odd/ };
  for (const [code, word] of Object.entries(words)) {
    const fault = cacheFault('/cache', Object.assign(new Error('odd'), { code }));
    assert.equal(fault.code, 'io');
    assert.match(fault.message, /^\/cache: the cache folder cannot be written/);
    assert.match(fault.message, word);
  }
});
