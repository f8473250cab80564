import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { createEngine, type SlipstreamEngine } from '../../engine/engine.ts';
import { temporaryFolder } from '../temporaryFolder.ts';

const folder = temporaryFolder();
const helper = 'export function harbourFee(boat, nights) {\n  return boat.length * nights * FEE;\n}\n';

function put(path: string, text: string): void {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
}

let engine: SlipstreamEngine;
before(async () => {
  put('src/fees.ts', helper);
  put('src/tides.ts', 'export function tideAt(hour) {\n  return Math.sin(hour);\n}\n');
  put('.gitignore', 'built\n');
  put('built/fees.js', `// Built.\n${helper}`);
  put('.env', `SECRET_FEE=harbourFee\n${helper}`);
  engine = await createEngine({
    settings: { algorithm: 'auto', device: 'cpu', maxTokens: 8 },
    cacheDir: temporaryFolder(),
    workspaceFolders: [{ uri: pathToFileURL(folder).href, name: 'harbour', exclude: [] }],
    log: () => {},
    onIndexProgress: () => {},
    onModelChanged: () => {},
  });
});
after(() => engine.dispose());

function requestAt(text: string, version: number) {
  const document = TextDocument.create(pathToFileURL(join(folder, 'src/bill.ts')).href, 'ts', version, text);
  engine.documentChanged(document);
  return {
    document,
    position: document.positionAt(text.length),
    indentation: { insertSpaces: true, tabSize: 2 },
    openDocuments: [document],
    onText: () => {},
  } as const;
}

async function completeAt(text: string, version: number) {
  const { prompt, metrics } = await engine.completeInDetail(
    requestAt(text, version),
    new AbortController().signal,
  );
  const context = prompt.parts.filter(({ kind }) => kind === 'context').map((part) => part.text);
  return {
    context,
    prefilled: metrics.prefilledTokens,
    whole: prompt.parts.map((part) => part.text).join(''),
  };
}

test('a helper of a file that is not open is in the prompt, what is ignored or secret is not', async () => {
  await engine.whenIndexed();
  const text = 'export function bill(boat) {\n  const due = harbourFee(boat, ';
  await engine.gatherContext(requestAt(text, 1));
  const { context, whole } = await completeAt(text, 1);
  assert.deepEqual(context, [`src/fees.ts\n${helper.trimEnd()}\n`]);
  assert.doesNotMatch(whole, /SECRET_FEE|Built/);
});

test('typing on keeps the context, and prefills next to nothing', async () => {
  const start = 'export function bill(boat) {\n  const due = harbourFee(boat, ';
  const { context } = await completeAt(start, 2);
  let typed = '';
  for (const key of 'nights);\n  return') {
    typed += key;
    const next = await completeAt(start + typed, 3 + typed.length);
    assert.deepEqual(next.context, context, typed);
    assert.ok(next.prefilled <= 8, `${next.prefilled} tokens after ${JSON.stringify(typed)}`);
  }
});
