import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { ConfigReader } from '../../../../engine/compile/config.ts';
import { parseTaps } from '../../../../engine/compile/heads/tapIds.ts';
import { headTarget } from '../../../headFolder.ts';
import { temporaryFolder } from '../../../temporaryFolder.ts';

const file = join(temporaryFolder(), 'config.json');

async function taps(config: unknown, layers: number): Promise<readonly number[]> {
  writeFileSync(file, JSON.stringify(config));
  return parseTaps('head', await ConfigReader.read(file), { ...headTarget, layers });
}

const FIELD = 'eagle_aux_hidden_state_layer_ids';

test('the three defaults are the same streams, however a project counts them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 6, max: 90 }), async (layers) => {
      const half = Math.floor(layers / 2);
      const entered = [2, half, layers - 3];
      assert.deepEqual(await taps({}, layers), entered);
      assert.deepEqual(await taps({ [FIELD]: entered }, layers), entered);
      const left = [1, half - 1, layers - 4];
      assert.deepEqual(await taps({ eagle_config: { [FIELD]: left } }, layers), entered);
      assert.deepEqual(await taps({ [FIELD]: left }, layers), entered);
    }),
  );
});

test('any streams of the target can be read, none beside them', async () => {
  assert.deepEqual(await taps({ [FIELD]: [0, 4, 8] }, 8), [0, 4, 8]);
  assert.deepEqual(await taps({ [FIELD]: [1, 7] }, 8), [2, 8]);
  for (const ids of [
    [2, 9],
    [1, 8],
    [-1, 2],
    [2, 2.5],
  ]) {
    await assert.rejects(taps({ [FIELD]: ids }, 8), { message: /layers|list/ });
  }
  await assert.rejects(taps({}, 2), { code: 'model.unsupported', message: /2, 1, -1, and this model has 2/ });
});
