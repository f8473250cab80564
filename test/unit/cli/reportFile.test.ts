import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { benchCommand } from '../../../engine/cli/bench.ts';
import { CommandLine } from '../../../engine/cli/commandLine.ts';
import { reportFile } from '../../../engine/cli/reportFile.ts';
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
