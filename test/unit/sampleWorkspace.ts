import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { TextDocument } from 'vscode-languageserver-textdocument';

const dir = fileURLToPath(new URL('../fixtures/sample-workspace', import.meta.url));

export const sampleWorkspace = { uri: pathToFileURL(dir).href, name: 'sample', exclude: [] };

export function sampleText(path: string): string {
  return readFileSync(join(dir, path), 'utf8');
}

/** A file of the workspace as an open document, with the text it has or another one. */
export function sampleDocument(path: string, text = sampleText(path), version = 1): TextDocument {
  return TextDocument.create(pathToFileURL(join(dir, path)).href, 'typescript', version, text);
}
