/**
 * Packages the extension for one platform. usage: node .dev/package.mjs [--target PLATFORM] [--out FILE.vsix]
 * A platform as vsce names it; default: this one.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packageReadme } from './packageReadme.mjs';
import { root } from './setup.mjs';

/** Where onnxruntime-node keeps the libraries of each platform that it has any for. */
const nativeLibraries = {
  'linux-x64': ['linux/x64/**'],
  'linux-arm64': ['linux/arm64/**'],
  // The binding loads libonnxruntime.1.dylib; the other name holds the same bytes.
  'darwin-arm64': ['darwin/arm64/*.node', 'darwin/arm64/libonnxruntime.1.dylib'],
  'win32-x64': ['win32/x64/**'],
  'win32-arm64': ['win32/arm64/**'],
};

const readme = 'dist/README.md';

const { values } = parseArgs({
  options: {
    target: { type: 'string', default: `${process.platform}-${process.arch}` },
    out: { type: 'string' },
  },
});
const libraries = nativeLibraries[values.target];
if (!libraries) {
  console.error(`${values.target}: not one of ${Object.keys(nativeLibraries).join(', ')}`);
  process.exit(2);
}

const scratch = mkdtempSync(join(tmpdir(), 'slipstream-package-'));
try {
  const ignoreFile = join(scratch, 'vscodeignore');
  const kept = libraries.map((glob) => `!node_modules/onnxruntime-node/bin/napi-v6/${glob}`);
  writeFileSync(ignoreFile, [readFileSync(join(root, '.vscodeignore'), 'utf8'), ...kept, ''].join('\n'));
  run(['esbuild.mjs', '--production']);
  writeFileSync(join(root, readme), packageReadme(readFileSync(join(root, 'README.md'), 'utf8')));
  run([
    'node_modules/@vscode/vsce/vsce',
    ...['package', '--target', values.target, '--ignoreFile', ignoreFile],
    ...(values.out ? ['--out', resolve(values.out)] : []),
    ...['--readme-path', readme],
    // There is no address yet to make links absolute with.
    ...['--allow-missing-repository', '--no-rewrite-relative-links'],
  ]);
  run(['esbuild.mjs']); // what is worked with here keeps its source maps
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function run(args) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
