import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const PYTHON = process.env.PYTHON ?? '/usr/bin/python3';
const FOLDER = fileURLToPath(new URL('../../../engine/training/heads', import.meta.url));
const CHECK = "import torch, sys; sys.exit(tuple(map(int, torch.__version__.split('.')[:2])) < (2, 5))";

const hasTorch = spawnSync(PYTHON, ['-c', CHECK], { timeout: 60_000 }).status === 0;

test('the training of heads passes its own tests', {
  skip: !hasTorch && 'PyTorch 2.5 or later is not installed ($PYTHON chooses the interpreter)',
}, () => {
  const run = spawnSync(PYTHON, ['-B', '-m', 'unittest', 'discover', '-s', FOLDER], {
    encoding: 'utf8',
    env: { ...process.env, OMP_NUM_THREADS: '1' },
  });
  assert.equal(run.status, 0, run.stderr);
  assert.match(run.stderr, /^Ran [1-9]\d* tests/m);
});
