import assert from 'node:assert/strict';
import { closeSync, openSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { checksumOf } from '../../../engine/compile/checksum.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const file = join(temporaryFolder(), 'file');
const MIB = 2 ** 20;

function patch(offset: number): void {
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.of(1), 0, 1, offset);
  closeSync(handle);
}

test('every byte of a file of a small model counts', async () => {
  for (const size of [0, 1, MIB / 2, MIB / 2 + 1, 3 * MIB]) {
    const bytes = Buffer.alloc(size, 'weights');
    writeFileSync(file, bytes);
    assert.equal(await checksumOf(file), crc32(bytes));
  }
});

test('of a large file the first byte, the last one and what is cut off count', async () => {
  writeFileSync(file, Buffer.alloc(80 * MIB, 'weights'));
  const seen = new Set([await checksumOf(file)]);
  for (const offset of [0, 80 * MIB - 1]) {
    patch(offset);
    seen.add(await checksumOf(file));
  }
  truncateSync(file, 70 * MIB);
  truncateSync(file, 80 * MIB);
  seen.add(await checksumOf(file));
  assert.equal(seen.size, 4);
});
