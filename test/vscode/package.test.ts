import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

/** The names in a ZIP file's central directory (APPNOTE.TXT 4.3.12). */
function namesIn(zip: Buffer): string[] {
  const names: string[] = [];
  for (let at = zip.indexOf('PK\u0001\u0002'); at >= 0; at = zip.indexOf('PK\u0001\u0002', at + 46)) {
    const length = zip.readUInt16LE(at + 28);
    names.push(zip.toString('utf8', at + 46, at + 46 + length));
  }
  return names;
}

test('a package holds what runs, with the native libraries of its own platform alone', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'slipstream-package-test-'));
  const vsix = join(scratch, 'slipstream.vsix');
  try {
    execFileSync(process.execPath, ['.dev/package.mjs', '--target', 'darwin-arm64', '--out', vsix]);
    const names = namesIn(readFileSync(vsix)).map((name) => name.replace('extension/', ''));
    const native = names.filter((name) => name.includes('/bin/napi-v6/'));
    const folder = 'node_modules/onnxruntime-node/bin/napi-v6/darwin/arm64';
    assert.deepEqual(native.sort(), [
      `${folder}/libonnxruntime.1.dylib`,
      `${folder}/onnxruntime_binding.node`,
    ]);
    for (const needed of [
      'package.json',
      'readme.md',
      'LICENSE.txt',
      'dist/ThirdPartyNotices.txt',
      'media/icon.png',
      'dist/extension.cjs',
      'dist/benchmarkPanel.js',
      'dist/benchmarkPanel.css',
      'dist/engine.js',
      'dist/indexWorker.js',
      'dist/cli.js',
      'dist/sample-workspace/src/bookings.ts',
      'engine/models/tiny-coder/model.safetensors',
      'node_modules/onnxruntime-node/dist/index.js',
      'node_modules/onnxruntime-common/dist/cjs/index.js',
    ]) {
      assert.ok(names.includes(needed), `${needed} is missing`);
    }
    const foreign = names
      .filter((name) => !name.startsWith('dist/sample-workspace/'))
      .filter((name) => /\.(ts|map|svg)$|^(test|\.dev|extension)\//.test(name));
    assert.deepEqual(foreign, []);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

test('a platform without libraries is refused in one line', () => {
  assert.throws(
    () => execFileSync(process.execPath, ['.dev/package.mjs', '--target', 'darwin-x64'], { stdio: 'pipe' }),
    (error: { status: number; stderr: Buffer }) => {
      assert.equal(error.status, 2);
      assert.match(error.stderr.toString(), /^darwin-x64: not one of linux-x64, .*\n$/);
      return true;
    },
  );
});
