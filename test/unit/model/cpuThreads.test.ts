import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { compileModel } from '../../../engine/compile/compileModel.ts';
import { CostTableStore } from '../../../engine/model/costTableStore.ts';
import { chooseThreads, knownThreads } from '../../../engine/model/cpuThreads.ts';
import type { LanguageModel } from '../../../engine/model/languageModel.ts';
import { goldenDir } from '../../golden.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

/** Of a model, what measuring looks at: how long a pass takes. */
function modelOf(pass: () => unknown): LanguageModel {
  const kv = { forward: async () => pass(), dispose: () => {} };
  return {
    info: { contextLength: 160, device: 'cpu' },
    createKvCache: () => kv,
    dispose: async () => {},
  } as unknown as LanguageModel;
}

function moments(cacheDir: string): unknown[] {
  const folder = join(cacheDir, 'cost-tables');
  return readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')).moment);
}

const compiled = await compileModel(goldenDir('llama'), {
  precision: 'int8',
  taps: [],
  cacheDir: temporaryFolder(),
});

async function choose(cacheDir: string, passes: Readonly<Record<number, () => unknown>>) {
  const store = new CostTableStore(cacheDir);
  const choice = await chooseThreads(compiled, store, 2, async (_, threads) => modelOf(passes[threads]));
  return { threads: choice.threads, known: (await knownThreads(compiled, store, 2))?.threads };
}

/** Until the test is over, time passes with passes alone: whatever runs beside the test is not the model's. */
function timedPasses(t: TestContext, msByThreads: Readonly<Record<number, number>>) {
  let clockMs = 0;
  t.mock.method(performance, 'now', () => clockMs);
  const pass = (ms: number) => () => {
    clockMs += ms;
  };
  return { 1: pass(msByThreads[1]), 2: pass(msByThreads[2]) };
}

test('more threads are used where they are clearly faster, and remembered', async (t) => {
  const passes = timedPasses(t, { 1: 2, 2: 1.86 });
  assert.deepEqual(await choose(temporaryFolder(), passes), { threads: 2, known: 2 });
});

test('hardly faster is not enough', async (t) => {
  const passes = timedPasses(t, { 1: 2, 2: 1.94 });
  assert.deepEqual(await choose(temporaryFolder(), passes), { threads: 1, known: 1 });
});

test('what was measured with a processor to itself is marked as such', async (t) => {
  const cacheDir = temporaryFolder();
  const passes = timedPasses(t, { 1: 2, 2: 1 });
  // Other tests run beside this one: no real moment is sure to be quiet.
  t.mock.method(process, 'cpuUsage', (before = { user: 0, system: 0 }) => ({
    user: performance.now() * 1000 - before.user,
    system: 0,
  }));
  await choose(cacheDir, passes);
  assert.deepEqual(moments(cacheDir), ['quiet', 'quiet']);
});

test('what was measured while others had the processor is marked as such', async () => {
  const cacheDir = temporaryFolder();
  await choose(cacheDir, { 1: () => pause(3), 2: () => pause(1) });
  assert.deepEqual(moments(cacheDir), ['busy', 'busy']);
});
