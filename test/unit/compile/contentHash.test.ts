import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ContentHasher } from '../../../engine/compile/contentHash.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const folder = temporaryFolder();
let count = 0;
const file = (text: string) => {
  const path = join(folder, `file-${count++}`);
  writeFileSync(path, text);
  return path;
};
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

test('the hash is that of the contents, remembered or not, in the order of the files', async () => {
  const hasher = new ContentHasher(join(folder, 'plain.json'));
  const [a, b] = [file('one'), file('two')];
  const expected = sha256(sha256('one') + sha256('two'));
  assert.equal(await hasher.hash([a, b]), expected);
  assert.equal(await hasher.hash([a, b]), expected);
  assert.notEqual(await hasher.hash([b, a]), expected);
  writeFileSync(b, 'three');
  assert.equal(await hasher.hash([a, b]), sha256(sha256('one') + sha256('three')));
});

test('a remembered hash is not made again, and a broken memory costs only the hashing', async () => {
  const memory = join(folder, 'broken.json');
  const a = file('one');
  const expected = sha256(sha256('one'));
  assert.equal(await new ContentHasher(memory).hash([a]), expected);
  const [key] = Object.keys(JSON.parse(readFileSync(memory, 'utf8')));
  writeFileSync(memory, JSON.stringify({ [key]: 'remembered' }));
  assert.equal(await new ContentHasher(memory).hash([a]), sha256('remembered'));
  for (const broken of ['', 'null', '[]', '{"a":', JSON.stringify({ [key]: 3 })]) {
    writeFileSync(memory, broken);
    assert.equal(await new ContentHasher(memory).hash([a]), expected, broken);
  }
});

test('models come and go, and the memory holds the hashes that were asked for last', async () => {
  const memory = join(folder, 'bounded.json');
  const hasher = new ContentHasher(memory);
  const first = file('first');
  await hasher.hash([first]);
  for (let i = 0; i < 255; i++) await hasher.hash([file(`${i}`)]);
  await hasher.hash([first, file('new')]);
  await hasher.hash([file('newest')]);
  const remembered = Object.values(JSON.parse(readFileSync(memory, 'utf8')));
  assert.equal(remembered.length, 256);
  for (const text of ['first', 'new', 'newest', '2']) assert.ok(remembered.includes(sha256(text)), text);
  for (const text of ['0', '1']) assert.ok(!remembered.includes(sha256(text)), text);
});
