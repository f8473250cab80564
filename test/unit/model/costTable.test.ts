import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type CostTable, measureCostTable, passMs } from '../../../engine/model/costTable.ts';
import type { LanguageModel } from '../../../engine/model/languageModel.ts';
import { CpuModels } from '../../cpuModels.ts';
import { tinyShape, writeRandomCheckpoint } from '../../randomCheckpoint.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const models = new CpuModels();
const folder = temporaryFolder();

const table: CostTable = {
  nodeCounts: [1, 4, 8],
  contexts: [100, 200],
  ms: [
    [1, 4, 6],
    [2, 8, 12],
  ],
};

test('the time of a pass is linear between and beyond what was measured', () => {
  for (const [nodes, context, ms] of [
    [1, 100, 1],
    [4, 100, 4],
    [2, 100, 2],
    [6, 100, 5],
    [16, 100, 10],
    [4, 150, 6],
    [4, 300, 12],
    [4, 10, 4],
  ]) {
    assert.equal(passMs(table, nodes, context), ms, `${nodes} nodes, context ${context}`);
  }
});

test('a time is never negative, and one context measured stands for all', () => {
  assert.equal(
    passMs(
      {
        nodeCounts: [1, 2],
        contexts: [1, 2],
        ms: [
          [5, 5],
          [1, 1],
        ],
      },
      1,
      100,
    ),
    0,
  );
  assert.equal(passMs({ nodeCounts: [1, 2], contexts: [128], ms: [[5, 6]] }, 2, 5000), 6);
});

async function measured(contextLength: number): Promise<CostTable> {
  const dir = writeRandomCheckpoint(join(folder, `${contextLength}`), { ...tinyShape, contextLength }, 1);
  return measureCostTable(await models.open(dir, { precision: 'int8' }));
}

test('what is measured never falls with nodes or context', async () => {
  const { nodeCounts, contexts, ms } = await measured(2048);
  assert.deepEqual(contexts, [128, 1024]);
  assert.equal(ms.length, contexts.length);
  for (const [row, times] of ms.entries()) {
    assert.equal(times.length, nodeCounts.length);
    for (const [i, time] of times.entries()) {
      assert.ok(time > 0 && time >= (times[i - 1] ?? 0) && time >= (ms[row - 1]?.[i] ?? 0));
    }
  }
});

test('a model of any context length can be measured', async () => {
  for (const contextLength of [1, 5, 31, 32, 150]) {
    const { nodeCounts, contexts, ms } = await measured(contextLength);
    assert.ok(nodeCounts.at(-1)! <= contextLength);
    assert.equal(contexts.length, 1);
    assert.ok(ms[0].every((time) => Number.isFinite(time)));
  }
});

const STUMBLE_MS = 20;

/** The model, but slow at first and right after a larger pass, as if it had lost its caches. */
function stumbling(model: LanguageModel): LanguageModel {
  return {
    info: model.info,
    createKvCache: (capacity) => {
      const kv = model.createKvCache(capacity);
      const forward = kv.forward.bind(kv);
      let before = Number.POSITIVE_INFINITY;
      kv.forward = async (batch) => {
        if (batch.tokens.length < before) await setTimeout(STUMBLE_MS);
        before = batch.tokens.length;
        return forward(batch);
      };
      return kv;
    },
    dispose: () => model.dispose(),
  };
}

test('a pass over one token is measured as plain decoding has it, not after a larger one', async () => {
  const dir = writeRandomCheckpoint(join(folder, 'stumbling'), tinyShape, 1);
  const { ms } = await measureCostTable(stumbling(await models.open(dir, { precision: 'int8' })));
  for (const [one] of ms) assert.ok(one < STUMBLE_MS);
});
