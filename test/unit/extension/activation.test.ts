import assert from 'node:assert/strict';
import { test } from 'node:test';
import { build } from 'esbuild';

/** What is evaluated when VS Code loads the extension; the rest waits for the engine's start or the benchmark's panel. */
async function loadedAtOnce(): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: ['extension/extension.ts'],
    bundle: true,
    splitting: true, // a chunk for each dynamic import
    format: 'esm',
    platform: 'node',
    external: ['vscode'],
    outdir: 'dist',
    write: false,
    metafile: true,
  });
  const loaded = new Set<string>();
  const load = (output: string) => {
    const { inputs, imports } = metafile.outputs[output];
    for (const input of Object.keys(inputs)) loaded.add(input);
    for (const { path, kind, external } of imports)
      if (kind === 'import-statement' && external !== true) load(path);
  };
  load(Object.keys(metafile.outputs).find((name) => name.endsWith('extension.js'))!);
  return [...loaded];
}

test('activation loads neither the transport to the engine nor the benchmark', async () => {
  const loaded = await loadedAtOnce();
  assert.ok(loaded.includes('extension/inlineCompletionProvider.ts'), loaded.join('\n'));
  const heavy = loaded.filter((file) => /^node_modules\/|^extension\/benchmark\//.test(file));
  assert.deepEqual(heavy, []);
});
