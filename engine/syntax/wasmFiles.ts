import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import grammarFiles from './grammarFiles.json' with { type: 'json' };
import type { Language } from './language.ts';

export const runtimeFile = () => wasmFile('web-tree-sitter/web-tree-sitter.wasm');
export const grammarFile = (language: Language) => wasmFile(grammarFiles[language]);

/** Beside the bundle, where esbuild.mjs puts it, or in its package when this module runs as source. */
function wasmFile(inPackage: string): string {
  if (import.meta.url.endsWith('.ts')) return createRequire(import.meta.url).resolve(inPackage);
  return fileURLToPath(new URL(`./syntax/${basename(inPackage)}`, import.meta.url));
}
