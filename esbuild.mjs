/**
 * Bundles the extension and the engine into dist/.
 * usage: node esbuild.mjs [--production]   (production: minified, without source maps)
 */
import { chmod, cp, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import process from 'node:process';
import * as esbuild from 'esbuild';
import { thirdPartyNotices } from './.dev/thirdPartyNotices.mjs';

const production = process.argv.includes('--production');

/** @type {esbuild.BuildOptions} */
const common = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  outdir: 'dist',
  minify: production,
  sourcemap: !production,
  logLevel: 'warning',
  write: false,
  metafile: true,
};

/** Bundled CommonJS packages call `require` for Node's own modules; an ES module has to make its own. */
const requireForBundledPackages =
  "import { createRequire as createRequireForBundle } from 'node:module'; const require = createRequireForBundle(import.meta.url);";

const bundles = await Promise.all([
  esbuild.build({
    ...common,
    entryPoints: { extension: 'extension/extension.ts' },
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    external: ['vscode'],
  }),
  esbuild.build({
    ...common,
    entryPoints: {
      engine: 'engine/main.ts',
      cli: 'engine/cli.ts',
      indexWorker: 'engine/workspace/indexWorker.ts',
    },
    format: 'esm',
    banner: { js: requireForBundledPackages },
    // Found in node_modules at run time: its native library lies beside it.
    external: ['onnxruntime-node'],
  }),
  esbuild.build({
    ...common,
    entryPoints: { benchmarkPanel: 'media/benchmark/main.ts' },
    platform: 'browser',
    target: 'chrome130',
    format: 'iife',
  }),
  esbuild.build({
    ...common,
    entryPoints: { benchmarkPanel: 'media/benchmark/benchmarkPanel.css' },
    target: 'chrome130',
  }),
]);
for (const { path, contents } of bundles.flatMap(({ outputFiles }) => outputFiles)) await put(path, contents);
await chmod('dist/cli.js', 0o755);
const grammars = await copyGrammars();
const bundled = bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs));
const besides = ['onnxruntime-node', 'onnxruntime-common'].map((name) => `node_modules/${name}/package.json`);
await put('dist/ThirdPartyNotices.txt', thirdPartyNotices([...bundled, ...grammars, ...besides]));
// Where engine/sampleWorkspace.ts looks for it.
await cp('test/fixtures/sample-workspace', 'dist/sample-workspace', { recursive: true });

/** Where engine/syntax/wasmFiles.ts looks for them. @returns the files copied */
async function copyGrammars() {
  const { resolve } = createRequire(import.meta.url);
  const names = Object.values(JSON.parse(await readFile('engine/syntax/grammarFiles.json', 'utf8')));
  const files = ['web-tree-sitter/web-tree-sitter.wasm', ...names].map((name) => resolve(name));
  await Promise.all(files.map(async (file) => put(`dist/syntax/${basename(file)}`, await readFile(file))));
  return files;
}

/** At once: an engine may be starting from the file that is being replaced. */
async function put(path, contents) {
  await mkdir(dirname(path), { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, contents);
  await rename(unfinished, path);
}
