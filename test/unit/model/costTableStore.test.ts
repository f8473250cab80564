import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { compileModel } from '../../../engine/compile/compileModel.ts';
import type { CostTable } from '../../../engine/model/costTable.ts';
import { CostTableStore } from '../../../engine/model/costTableStore.ts';
import { goldenDir } from '../../golden.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const cacheDir = temporaryFolder();
const compiling = compileModel(goldenDir('llama'), { precision: 'int8', taps: [], cacheDir });
const table: CostTable = { nodeCounts: [1, 2], contexts: [128], ms: [[0.5, 0.75]] };

function tableFile(): string {
  const folder = join(cacheDir, 'cost-tables');
  const [name] = readdirSync(folder);
  return join(folder, name);
}

test('what was measured is found again, under the same circumstances only', async () => {
  const compiled = await compiling;
  const store = new CostTableStore(cacheDir);
  assert.equal(await store.read(compiled, '2 threads'), undefined);
  await store.write(compiled, '2 threads', table, 'quiet');
  assert.deepEqual(await new CostTableStore(cacheDir).read(compiled, '2 threads'), table);
  assert.equal(await store.read(compiled, '4 threads'), undefined);
});

test('what is too old, from the future or damaged is measured again', async () => {
  const compiled = await compiling;
  const store = new CostTableStore(cacheDir);
  await store.write(compiled, '2 threads', table, 'quiet');
  const stored = JSON.parse(readFileSync(tableFile(), 'utf8'));
  const month = 31 * 24 * 3_600_000;
  const hours = (some: number) => Date.now() - some * 3_600_000;
  writeFileSync(tableFile(), JSON.stringify({ ...stored, measuredAtMs: hours(2) }));
  assert.deepEqual(await store.read(compiled, '2 threads'), table);
  for (const bad of [
    JSON.stringify({ ...stored, measuredAtMs: hours(2), moment: 'busy' }),
    JSON.stringify({ ...stored, moment: undefined }),
    JSON.stringify({ ...stored, measuredAtMs: Date.now() - month }),
    JSON.stringify({ ...stored, measuredAtMs: Date.now() + month }),
    JSON.stringify({ ...stored, table: { ...table, ms: [[1]] } }),
    JSON.stringify({ ...stored, table: { ...table, ms: [[1, null]] } }),
    JSON.stringify({ ...stored, table: { ...table, ms: [[1, 0]] } }),
    'null',
    '{',
  ]) {
    writeFileSync(tableFile(), bad);
    assert.equal(await store.read(compiled, '2 threads'), undefined, bad);
  }
});
