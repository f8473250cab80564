/** The runtime has telemetry of its own on Linux and macOS: a database in the user's cache folder, and uploads. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../temporaryFolder.ts';

/** Where the runtime is silent by itself it cannot be shown to be silenced. */
const switches =
  /^(ORT_DISABLE_TELEMETRY|ORT_RUNNING_UNIT_TESTS|CI|CIRCLECI|CODEBUILD_BUILD_ID|GITHUB_ACTIONS|GITLAB_CI|JENKINS_URL|TEAMCITY_VERSION|TF_BUILD|TRAVIS)$/;

function run(home: string, args: readonly string[]): void {
  const inherited = Object.entries(process.env).filter(([name]) => !switches.test(name));
  const env = { ...Object.fromEntries(inherited), HOME: home, XDG_CACHE_HOME: home };
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  assert.equal(status, 0, stderr);
}

test('the runtime records nothing and sends nothing', { skip: process.platform !== 'linux' }, () => {
  const home = temporaryFolder();
  const records = join(home, 'Microsoft');
  run(home, [
    'dist/cli.js',
    'generate',
    '--model',
    'engine/models/tiny-coder',
    '--prompt',
    'x',
    '--max-new-tokens',
    '2',
  ]);
  assert.ok(!existsSync(records), 'the runtime is not silenced');
  const compiled = join(home, 'slipstream', 'compiled');
  const graph = join(compiled, readdirSync(compiled)[0], 'model.onnx');
  const script = `require('onnxruntime-node').InferenceSession.create(${JSON.stringify(graph)})`;
  run(home, ['-e', script]);
  assert.ok(existsSync(records), 'without the switch it records: this test would see it');
});
