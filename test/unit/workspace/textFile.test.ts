import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { MAX_FILE_BYTES, readTextFile } from '../../../engine/workspace/textFile.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const code = 'const a = 1;\n';

test('text is read, what is no code is skipped for a reason', async () => {
  const folder = temporaryFolder({
    'utf8.ts': `${code}// größe 🎉\n`,
    'bom.ts': `\ufeff${code}`,
    'utf16.ts': Buffer.from(`\ufeff${code}`, 'utf16le'),
    empty: '',
    largest: code.repeat(Math.floor(MAX_FILE_BYTES / code.length)),
    'large.ts': code.repeat(MAX_FILE_BYTES / code.length + 1),
    zero: Buffer.concat([Buffer.from(code), Buffer.of(0)]),
    latin1: Buffer.from('größe', 'latin1'),
    cut: Buffer.from('🎉').subarray(0, 3),
    'one-line.js': 'a=1;'.repeat(1000),
  });
  const read = async (name: string) => {
    const file = await readTextFile(join(folder, name));
    return 'text' in file ? file.text : file.skipped;
  };
  assert.equal(await read('utf8.ts'), `${code}// größe 🎉\n`);
  assert.equal(await read('bom.ts'), code);
  assert.equal(await read('utf16.ts'), code);
  assert.equal(await read('empty'), '');
  assert.ok((await read('largest')).length > MAX_FILE_BYTES - 20);
  assert.equal(await read('large.ts'), 'too large');
  assert.equal(await read('zero'), 'binary');
  assert.equal(await read('latin1'), 'binary');
  assert.equal(await read('cut'), 'binary');
  assert.equal(await read('one-line.js'), 'minified');
});

test('a file that is gone is an error', async () => {
  const folder = temporaryFolder();
  await assert.rejects(readTextFile(join(folder, 'gone')), { code: 'ENOENT' });
});
