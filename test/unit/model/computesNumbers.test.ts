import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openModel } from '../../../engine/model/openModel.ts';
import { Random } from '../../random.ts';
import {
  configOf,
  randomTensors,
  safetensors,
  tinyShape,
  writeRandomCheckpoint,
} from '../../randomCheckpoint.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

async function open(dir: string): Promise<void> {
  const { model } = await openModel(dir, {
    device: 'cpu',
    cacheDir: temporaryFolder(),
    threads: 1,
    log: () => {},
  });
  await model.dispose();
}

test('a model whose finite weights overflow is refused when it is opened', async () => {
  const dir = writeRandomCheckpoint(temporaryFolder(), tinyShape, 1);
  await open(dir);
  const tensors = randomTensors(tinyShape, new Random(1));
  for (const { data } of tensors.filter(({ name }) => name.includes('_proj'))) data.fill(3.3e38);
  writeFileSync(join(dir, 'model.safetensors'), safetensors(tensors));
  await assert.rejects(open(dir), { code: 'model.corrupt', message: /computes no numbers.*Download/ });
});

test('a number of config.json that float32 does not hold is refused by name', async () => {
  const linear = (factor: number) => ({ rope_scaling: { rope_type: 'linear', factor } });
  const wrong: [field: string, config: object][] = [
    ['rms_norm_eps', { rms_norm_eps: 1e308 }],
    ['rope_theta', { rope_theta: 1e-300 }],
    ['rope_theta', { rope_theta: 1e39 }],
    ['factor', linear(1e-300)],
  ];
  for (const [field, config] of wrong) {
    const dir = writeRandomCheckpoint(temporaryFolder(), tinyShape, 1);
    writeFileSync(join(dir, 'config.json'), JSON.stringify({ ...configOf(tinyShape), ...config }));
    await assert.rejects(open(dir), { code: 'model.corrupt', message: new RegExp(`"${field}" is `) });
  }
});

test('angles that overflow, of numbers that float32 holds, are noticed behind the first position', async () => {
  const dir = writeRandomCheckpoint(temporaryFolder(), tinyShape, 1);
  const rope_scaling = { rope_type: 'linear', factor: 1e-38 };
  writeFileSync(
    join(dir, 'config.json'),
    JSON.stringify({ ...configOf(tinyShape), rope_scaling, rope_theta: 1e-5 }),
  );
  await assert.rejects(open(dir), { code: 'model.corrupt', message: /computes no numbers/ });
});
