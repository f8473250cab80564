import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engineEnvironment } from '../../../extension/engineEnvironment.ts';

const user = { PATH: '/bin', NODE_OPTIONS: '--inspect', ELECTRON_RUN_AS_NODE: '1' };

test('options for other Node programs are not meant for the engine', () => {
  assert.deepEqual(engineEnvironment('path', user), {
    PATH: '/bin',
    GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
  });
});

test("VS Code's own program is told to run as Node", () => {
  assert.equal(engineEnvironment('vscode', { PATH: '/bin' }).ELECTRON_RUN_AS_NODE, '1');
});

test("the user's own tunables stay", () => {
  const own = { GLIBC_TUNABLES: 'glibc.malloc.check=3' };
  assert.equal(engineEnvironment('path', own).GLIBC_TUNABLES, own.GLIBC_TUNABLES);
});
