import { extname } from 'node:path';
import type grammarFiles from './grammarFiles.json';

/** The languages that have a grammar here, by tree-sitter's names. */
export type Language = keyof typeof grammarFiles;

/** By the editor's language identifier. */
const byId: Readonly<Record<string, Language>> = {
  c: 'c',
  cpp: 'cpp',
  'cuda-cpp': 'cpp',
  csharp: 'csharp',
  css: 'css',
  go: 'go',
  html: 'html',
  java: 'java',
  javascript: 'javascript',
  javascriptreact: 'javascript',
  json: 'json',
  jsonc: 'json',
  php: 'php',
  python: 'python',
  ruby: 'ruby',
  rust: 'rust',
  shellscript: 'bash',
  typescript: 'typescript',
  typescriptreact: 'tsx',
};

/** As VS Code assigns them. */
const byExtension: Readonly<Record<string, Language>> = {
  '.bash': 'bash',
  '.c': 'c',
  '.cc': 'cpp',
  '.cjs': 'javascript',
  '.cpp': 'cpp',
  '.cs': 'csharp',
  '.css': 'css',
  '.cts': 'typescript',
  '.cxx': 'cpp',
  '.go': 'go',
  '.h': 'cpp',
  '.hpp': 'cpp',
  '.htm': 'html',
  '.html': 'html',
  '.java': 'java',
  '.js': 'javascript',
  '.json': 'json',
  '.jsx': 'javascript',
  '.mjs': 'javascript',
  '.mts': 'typescript',
  '.php': 'php',
  '.py': 'python',
  '.pyi': 'python',
  '.rb': 'ruby',
  '.rs': 'rust',
  '.sh': 'bash',
  '.ts': 'typescript',
  '.tsx': 'tsx',
};

/**
 * The language of a document; undefined when there is no grammar for it, which many documents live with.
 * @param id the editor's identifier; where it has none of its own for a language (`plaintext`), the name decides
 * @param path a path or a URI
 */
export function languageOf(id: string, path: string): Language | undefined {
  return Object.hasOwn(byId, id) ? byId[id] : languageOfPath(path);
}

export function languageOfPath(path: string): Language | undefined {
  const extension = extname(path).toLowerCase();
  return Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined;
}
