import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { fileEntries, fileTable } from '../../../engine/workspace/fileTable.ts';
import { WorkerClient } from '../../../engine/workspace/workerClient.ts';
import { WorkspaceIndex } from '../../../engine/workspace/workspaceIndex.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const modelDir = fileURLToPath(new URL('../../../engine/models/tiny-coder', import.meta.url));

const helper = 'export function harbourFee(boat, nights) {\n  return boat.length * nights * FEE;\n}\n';
const other = 'export function tideAt(hour) {\n  return Math.sin(hour);\n}\n';
const near = 'const due = harbourFee(boat, ';

async function open(t: TestContext, folder: string, cacheDir = temporaryFolder()) {
  const index = new WorkspaceIndex({
    modelDir,
    vocabSize: 8192,
    cacheDir,
    onProgress: () => undefined,
    log: (level, message) => level === 'warn' && assert.fail(message),
  });
  t.after(() => index.dispose());
  index.setFolders([{ path: folder, exclude: [] }]);
  await index.whenIdle();
  return index;
}

const pathsOf = async (index: WorkspaceIndex, place = near) =>
  (await index.similar(place)).texts.map(({ path }) => path);

test('the definition of what is written comes first, with its text; after a restart too', async (t) => {
  const folder = temporaryFolder({ 'fees.ts': `// Fees.\n\n${helper}`, 'tides.ts': other });
  const cacheDir = temporaryFolder();
  for (const run of ['built', 'persisted']) {
    const index = await open(t, folder, cacheDir);
    const { texts, rarity } = await index.similar(near);
    assert.equal(texts[0]?.path, join(folder, 'fees.ts'), run);
    assert.match(texts[0].text, /function harbourFee\(boat, nights\)/);
    assert.equal(texts[0].firstLine, 0);
    assert.ok(rarity.get('harbourFee')! > 0);
    await index.dispose();
  }
});

test('ignored and secret files are never found; new ignore rules count', async (t) => {
  const folder = temporaryFolder({
    '.gitignore': 'built/\n',
    'built/fees.ts': helper,
    '.env': helper,
    id_rsa: helper,
    'fees.ts': helper,
  });
  const index = await open(t, folder);
  assert.deepEqual(await pathsOf(index), [join(folder, 'fees.ts')]);
  writeFileSync(join(folder, '.gitignore'), '*.ts\n');
  index.filesChanged([pathToFileURL(join(folder, '.gitignore')).href]);
  await index.whenIdle();
  assert.deepEqual(await pathsOf(index), []);
});

test('what changed on disk is quoted as it is now, what is gone is not', async (t) => {
  const folder = temporaryFolder({ 'fees.ts': helper, 'old.ts': `// Old.\n${helper}` });
  const index = await open(t, folder);
  writeFileSync(join(folder, 'fees.ts'), `${other.repeat(20)}\n// New.\n${helper}`);
  rmSync(join(folder, 'old.ts'));
  const { texts } = await index.similar(near);
  assert.deepEqual([...new Set(texts.map(({ path }) => path))], [join(folder, 'fees.ts')]);
  assert.match(texts[0].text, /\/\/ New\.\nexport function harbourFee/);
  assert.ok(texts[0].firstLine > 30);
});

test('an open document is not found: the editor has it', async (t) => {
  const folder = temporaryFolder({ 'fees.ts': helper });
  const index = await open(t, folder);
  const { href } = pathToFileURL(join(folder, 'fees.ts'));
  index.documentChanged(href, () => helper);
  assert.deepEqual(await pathsOf(index), []);
  index.documentClosed(href);
  await index.whenIdle();
  assert.deepEqual(await pathsOf(index), [join(folder, 'fees.ts')]);
});

test('a file whose windows were not known when the index was saved counts as changed', async (t) => {
  const folder = temporaryFolder({ 'fees.ts': helper, 'tides.ts': other });
  const start = { modelDir, cacheDir: temporaryFolder() };
  const entry = (path: string) => ({ path, size: 1, mtimeMs: 5, tokenCount: 1 });
  const snapshot = { files: fileTable(['fees.ts', 'tides.ts'].map(entry)), tokens: Uint16Array.of(1, 2) };
  const saving = new WorkerClient(start);
  await saving.call({ kind: 'tokenizeFile', path: join(folder, 'fees.ts') });
  await saving.call({ kind: 'save', folder, snapshot });
  await saving.dispose();
  const loading = new WorkerClient(start);
  t.after(() => loading.dispose());
  const loaded = await loading.call({ kind: 'load', folder });
  assert.deepEqual(
    [...fileEntries(loaded!.files)].map(({ path, mtimeMs }) => [path, mtimeMs]),
    [
      ['fees.ts', 5],
      ['tides.ts', 0],
    ],
  );
  assert.equal((await loading.call({ kind: 'similar', near })).texts[0].path, join(folder, 'fees.ts'));
});

test('folders that leave take their files along', async (t) => {
  const folder = temporaryFolder({ 'fees.ts': helper });
  const index = await open(t, folder);
  index.setFolders([]);
  assert.deepEqual(await pathsOf(index), []);
  const second = temporaryFolder({ 'tides.ts': other });
  index.setFolders([{ path: second, exclude: [] }]);
  await index.whenIdle();
  assert.deepEqual(await pathsOf(index), []);
});

test('an empty place, odd characters and a huge line are no question', async (t) => {
  const folder = temporaryFolder({ 'fees.ts': helper });
  const index = await open(t, folder);
  for (const odd of ['', '\ud800\0\n', ' '.repeat(100_000), 'x'.repeat(100_000)]) {
    assert.deepEqual(await pathsOf(index, odd), []);
  }
});
