import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CostTable } from '../../../engine/model/costTable.ts';
import { type OpenModelOptions, openModel } from '../../../engine/model/openModel.ts';
import { goldenDir } from '../../golden.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

// A process without any driver for WebGPU: what most servers and containers are.
process.env.VK_ICD_FILENAMES = '/nonexistent';
const withoutGpu = { skip: process.platform !== 'linux' && 'the driver can be hidden on Linux only' };

const cacheDir = temporaryFolder();
const messages: string[] = [];
const options: OpenModelOptions = {
  device: 'auto',
  cacheDir,
  threads: 1,
  log: (_level, message) => messages.push(message),
};

test('the CPU when it is asked for', async () => {
  const { model, costTable, deviceNote } = await openModel(goldenDir('llama'), { ...options, device: 'cpu' });
  assert.equal(model.info.device, 'cpu');
  assert.equal(model.info.precision, 'int8');
  assert.equal(deviceNote, undefined);
  assert.ok(costTable.ms[0][0] > 0);
  await model.dispose();
});

/** Writes the stored table with other times. */
function scaleStoredTable(folder: string, factor: number): CostTable {
  const [file] = readdirSync(join(folder, 'cost-tables')).map((name) => join(folder, 'cost-tables', name));
  const stored = JSON.parse(readFileSync(file, 'utf8'));
  const ms = stored.table.ms.map((row: number[]) => row.map((time) => factor * time));
  const table = { ...stored.table, ms };
  writeFileSync(file, JSON.stringify({ ...stored, table }));
  return table;
}

async function openForTable(cacheDir: string): Promise<CostTable> {
  const { model, costTable } = await openModel(goldenDir('llama'), { ...options, device: 'cpu', cacheDir });
  await model.dispose();
  return costTable;
}

test('a cost table is measured once, however slow or fast the machine has become', async () => {
  const own = temporaryFolder();
  await openForTable(own);
  for (const factor of [1e-3, 1e6]) {
    const stored = scaleStoredTable(own, factor);
    assert.deepEqual(await openForTable(own), stored);
  }
  rmSync(join(own, 'cost-tables'), { recursive: true });
  assert.ok((await openForTable(own)).ms[0][0] < 1e3);
});

test('a GPU that is asked for and not there: the CPU goes on, and the user is told', withoutGpu, async () => {
  const { model, deviceNote } = await openModel(goldenDir('llama'), { ...options, device: 'webgpu' });
  assert.equal(model.info.device, 'cpu');
  assert.match(deviceNote ?? '', /No GPU was found.*CPU goes on/);
  assert.ok(messages.at(-1)?.includes(deviceNote!));
  await model.dispose();
});

test('left to choose, nothing is said about a GPU that is not there', withoutGpu, async () => {
  const { model, deviceNote, deviceReason } = await openModel(goldenDir('llama'), options);
  assert.equal(model.info.device, 'cpu');
  assert.equal(deviceNote, undefined);
  assert.notEqual(deviceReason, '');
  await model.dispose();
});

test('what is wrong with the model is an error on any device', async () => {
  const missing = join(cacheDir, 'no-such-model');
  for (const device of ['auto', 'cpu', 'webgpu'] as const) {
    await assert.rejects(openModel(missing, { ...options, device }), { code: 'model.notFound' });
  }
  const fp16 = openModel(goldenDir('llama'), { ...options, device: 'cpu', precision: 'fp16' });
  await assert.rejects(fp16, /fp16 does not run on the device cpu: use fp32, int8, int4/);
});
