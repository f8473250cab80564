import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const PYTHON = process.env.PYTHON ?? '/usr/bin/python3';
const FOLDER = fileURLToPath(new URL('../../../engine/training/model', import.meta.url));

const hasTorch = spawnSync(PYTHON, ['-c', 'import torch'], { timeout: 60_000 }).status === 0;

test('the Python parts of training pass their own tests', {
  skip: !hasTorch && 'PyTorch is not installed',
}, () => {
  const run = spawnSync(PYTHON, ['-B', '-m', 'unittest', 'discover', '-s', FOLDER], {
    encoding: 'utf8',
    env: { ...process.env, OMP_NUM_THREADS: '1' },
  });
  assert.equal(run.status, 0, run.stderr);
  assert.match(run.stderr, /^Ran [1-9]\d* tests/m);
});
