import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { writeWholeFile } from '../../../engine/training/wholeFile.ts';

const folder = mkdtempSync(join(tmpdir(), 'slipstream-whole-'));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'windows.bin');

function* endsTooSoon(): Generator<string> {
  yield 'half';
  throw new Error('killed');
}

test('chunks become one file, and one that fails midway leaves the file before it and nothing beside', () => {
  writeWholeFile(file, [Uint16Array.of(1, 0x203), 'ä\n', Uint32Array.of(4)]);
  const whole = readFileSync(file);
  assert.deepEqual([...whole], [1, 0, 3, 2, 0xc3, 0xa4, 10, 4, 0, 0, 0]);
  assert.throws(() => writeWholeFile(file, endsTooSoon()), /killed/);
  assert.deepEqual(readFileSync(file), whole);
  assert.deepEqual(readdirSync(folder), ['windows.bin']);
});
