import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { benchCommand } from '../../../engine/cli/bench.ts';
import { CommandLine } from '../../../engine/cli/commandLine.ts';
import { requireFolder } from '../../../engine/cli/files.ts';
import { reportFile, writeReport } from '../../../engine/cli/reportFile.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const folder = temporaryFolder();

const fileOf = async (json: string) => reportFile(new CommandLine(benchCommand, ['.', '--json', json]));

test('a report may go into a new file and replace an old one', async () => {
  const [fresh, old] = [join(folder, 'fresh.json'), join(folder, 'old.json')];
  writeFileSync(old, '{}');
  assert.equal(await fileOf(fresh), fresh);
  assert.equal(await fileOf(old), old);
});

test('what a report cannot replace is refused before anything is measured', async () => {
  for (const target of ['', folder, devNull, join(folder, 'missing', 'report.json')]) {
    await assert.rejects(fileOf(target), { code: 'usage' }, target);
  }
});

test('a report replaces the old one as a whole, and what cannot be written leaves nothing', () => {
  const dir = join(folder, 'written');
  mkdirSync(dir);
  const file = join(dir, 'report.json');
  writeReport(file, { run: 1 });
  writeReport(file, { run: 2 });
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { run: 2 });
  assert.throws(() => writeReport(file, { run: 1n }));
  // A folder with something in it cannot be replaced: the write succeeds, the renaming does not.
  mkdirSync(join(dir, 'folder', 'full'), { recursive: true });
  assert.throws(() => writeReport(join(dir, 'folder'), { run: 3 }), {
    code: 'io',
    message: /^--json: .*folder could not be written: .*; choose another place$/,
  });
  assert.deepEqual(readdirSync(dir).sort(), ['folder', 'report.json']);
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { run: 2 });
});

const asSuperuser = process.platform === 'win32' || process.getuid?.() === 0;

test('a folder that may not be read, or not be written to, is told as such', {
  skip: asSuperuser && 'everything may be read and written',
}, async () => {
  const closed = join(folder, 'closed');
  mkdirSync(closed);
  chmodSync(closed, 0o000);
  await assert.rejects(requireFolder(closed), { code: 'usage', message: /closed: may not be read/ });
  chmodSync(closed, 0o500);
  await assert.rejects(fileOf(join(closed, 'report.json')), {
    code: 'usage',
    message: /--json: .*closed may not be written to/,
  });
});

test('a link that leads in a circle is told as such', {
  skip: process.platform === 'win32' && 'links need a privilege',
}, async () => {
  const circle = join(folder, 'circle');
  symlinkSync(circle, circle);
  await assert.rejects(requireFolder(circle), {
    code: 'usage',
    message: /circle: a symbolic link that leads/,
  });
});
