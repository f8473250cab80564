import assert from 'node:assert/strict';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { loadTokenizer } from '../../../engine/model/tokenizer.ts';
import type { IndexProgress } from '../../../engine/protocol.ts';
import { WorkspaceIndex } from '../../../engine/workspace/workspaceIndex.ts';
import { put, temporaryFolder } from '../../temporaryFolder.ts';
import { waitFor } from '../../waitFor.ts';

const modelDir = fileURLToPath(new URL('../../../engine/models/tiny-coder', import.meta.url));
const tokenizer = await loadTokenizer(modelDir);

const area = 'export function areaOfEllipse(major, minor) {\n  return Math.PI * major * minor;\n}\n';
const greet = 'export function greetPolitely(visitor) {\n  return "Good evening, ".concat(visitor);\n}\n';

interface Opened {
  readonly index: WorkspaceIndex;
  readonly progress: IndexProgress[];
  readonly logged: string[];
}

function open(t: TestContext, cacheDir: string, maxTokens?: number): Opened {
  const progress: IndexProgress[] = [];
  const logged: string[] = [];
  const index = new WorkspaceIndex({
    modelDir,
    vocabSize: tokenizer.vocabSize,
    cacheDir,
    ...(maxTokens !== undefined && { maxTokens }),
    onProgress: (report) => progress.push(report),
    log: (level, message) => logged.push(`${level}: ${message}`),
  });
  t.after(() => index.dispose());
  return { index, progress, logged };
}

/** The documents that hold the text, by looking its first tokens up; '' when only its tokens in part are there. */
function holders(index: WorkspaceIndex, text: string): (string | undefined)[] {
  const query = Uint16Array.from(tokenizer.encode(text).subarray(0, 16));
  return index
    .lookup(query)
    .filter(({ length }) => length === query.length)
    .map((match) => index.documentOf(match));
}

test('files are found, persisted, and only read again when they changed', async (t) => {
  const cacheDir = temporaryFolder();
  const folder = temporaryFolder({
    'a.ts': area,
    'windows.ts': greet.replaceAll('\n', '\r\n'),
    '.env': area,
    'image.png': Uint8Array.of(0, 1, 2, 3),
  });
  const first = open(t, cacheDir);
  first.index.setFolders([{ path: folder, exclude: [] }]);
  await first.index.whenIdle();
  assert.deepEqual(holders(first.index, area), [join(folder, 'a.ts')]);
  assert.deepEqual(holders(first.index, greet), [join(folder, 'windows.ts')], 'as if its lines ended in \\n');
  assert.equal(first.index.documentCount, 2);
  assert.deepEqual(first.progress.at(-1), {
    state: 'ready',
    files: 3,
    filesDone: 3,
    tokens: first.index.tokenCount,
  });
  await first.index.dispose();

  writeFileSync(join(folder, 'a.ts'), `${greet}\n`);
  rmSync(join(folder, 'windows.ts'));
  put(join(folder, 'lib', 'new.ts'), area);
  const second = open(t, cacheDir);
  second.index.setFolders([{ path: folder, exclude: [] }]);
  await second.index.whenIdle();
  assert.deepEqual(second.logged, []);
  assert.deepEqual(holders(second.index, area), [join(folder, 'lib', 'new.ts')]);
  assert.deepEqual(holders(second.index, greet), [join(folder, 'a.ts')]);
  assert.equal(second.progress.at(-1)?.files, 2, 'the picture is not looked at again');
});

test('a damaged persisted index is rebuilt, with a line in the log', async (t) => {
  const cacheDir = temporaryFolder();
  const folder = temporaryFolder({ 'a.ts': area });
  const first = open(t, cacheDir);
  first.index.setFolders([{ path: folder, exclude: [] }]);
  await first.index.whenIdle();
  await first.index.dispose();
  const [file] = readdirSync(join(cacheDir, 'ngrams'));
  writeFileSync(join(cacheDir, 'ngrams', file), 'garbage');
  const second = open(t, cacheDir);
  second.index.setFolders([{ path: folder, exclude: [] }]);
  await second.index.whenIdle();
  assert.deepEqual(holders(second.index, area), [join(folder, 'a.ts')]);
  assert.equal(second.logged.length, 1);
  assert.match(second.logged[0], /^info: .*is rebuilt/);
});

test('created, changed, renamed and deleted files and folders, and new ignore rules, are followed', async (t) => {
  const folder = temporaryFolder({ 'a.ts': area, 'dir/b.ts': greet });
  const { index } = open(t, temporaryFolder());
  index.setFolders([{ path: folder, exclude: [] }]);
  await index.whenIdle();
  const changed = async (...paths: string[]) => {
    index.filesChanged(paths.map((path) => pathToFileURL(join(folder, path)).href));
    await index.whenIdle();
  };
  put(join(folder, 'dir2', 'b.ts'), greet);
  rmSync(join(folder, 'dir'), { recursive: true });
  await changed('dir', 'dir2');
  assert.deepEqual(holders(index, greet), [join(folder, 'dir2', 'b.ts')]);

  writeFileSync(join(folder, 'a.ts'), greet);
  rmSync(join(folder, 'dir2', 'b.ts'));
  await changed('a.ts', 'dir2/b.ts');
  assert.deepEqual(holders(index, area), []);
  assert.deepEqual(holders(index, greet), [join(folder, 'a.ts')]);

  put(join(folder, '.gitignore'), 'a.ts\n');
  await changed('.gitignore');
  assert.deepEqual(holders(index, greet), []);
  put(join(folder, '.gitignore'), '');
  await changed('.gitignore');
  assert.deepEqual(holders(index, greet), [join(folder, 'a.ts')]);
});

test("an open document's text stands in for its file until it is closed", async (t) => {
  const folder = temporaryFolder({ 'a.ts': area });
  const { index } = open(t, temporaryFolder());
  index.setFolders([{ path: folder, exclude: [] }]);
  await index.whenIdle();
  const path = join(folder, 'a.ts');
  const uri = pathToFileURL(path).href;
  index.documentChanged(uri, () => greet);
  await waitFor('the text of the editor', () => holders(index, greet).length === 1);
  assert.deepEqual(holders(index, area), []);
  writeFileSync(path, `${area}\n`);
  index.filesChanged([uri]);
  await index.whenIdle();
  assert.deepEqual(holders(index, area), [], 'a change on disk does not replace what is being edited');
  index.documentClosed(uri);
  await index.whenIdle();
  assert.deepEqual(holders(index, area), [path]);
  assert.deepEqual(holders(index, greet), []);
});

test('documents that are no files are indexed while they are open; secrets never', async (t) => {
  const { index } = open(t, temporaryFolder());
  index.documentChanged('file:///project/.env', () => greet);
  index.documentChanged('untitled:Untitled-1', () => area);
  await waitFor('the text of the editor', () => holders(index, area).length === 1);
  assert.deepEqual(holders(index, area), ['untitled:Untitled-1']);
  assert.deepEqual(holders(index, greet), []);
  index.documentClosed('untitled:Untitled-1');
  assert.equal(index.documentCount, 0);
});

test('folders come and go; one inside another counts once', async (t) => {
  const folder = temporaryFolder({ 'a.ts': area, 'inner/b.ts': greet });
  const other = temporaryFolder({ 'c.ts': greet });
  const { index } = open(t, temporaryFolder());
  const inner = { path: join(folder, 'inner'), exclude: [] };
  index.setFolders([{ path: folder, exclude: [] }, inner, { path: other, exclude: [] }]);
  await index.whenIdle();
  assert.equal(index.documentCount, 3);
  index.setFolders([inner]);
  await index.whenIdle();
  assert.deepEqual(holders(index, greet), [join(folder, 'inner', 'b.ts')]);
  assert.equal(index.documentCount, 1);
  index.setFolders([{ ...inner, exclude: ['*.ts'] }]);
  await index.whenIdle();
  assert.equal(index.documentCount, 0);
});

test('a folder inside another has files of its own, whatever the outer one hides', async (t) => {
  const folder = temporaryFolder({
    'a.ts': area,
    'packages/api/b.ts': greet,
    'packages/api/secrets/c.ts': greet,
  });
  const outer = { path: folder, exclude: ['packages'] };
  const inner = { path: join(folder, 'packages', 'api'), exclude: [] };
  const file = join(inner.path, 'b.ts');
  const cacheDir = temporaryFolder();
  const { index } = open(t, cacheDir);
  index.setFolders([outer, inner]);
  await index.whenIdle();
  assert.deepEqual(holders(index, greet), [file]);
  index.setFolders([{ path: folder, exclude: [] }]);
  await index.whenIdle();
  assert.deepEqual(holders(index, greet), [file], 'now of the outer one');
  // What the outer one saved holds the file too.
  for (const folders of [[{ path: folder, exclude: [] }, inner], [inner], [outer, inner]]) {
    index.setFolders(folders);
    await index.whenIdle();
    assert.deepEqual(holders(index, greet), [file]);
    const { texts } = await index.similar(greet);
    assert.equal(texts.filter(({ path }) => path === file).length, 1);
  }
  writeFileSync(file, area);
  index.filesChanged([pathToFileURL(file).href]);
  await index.whenIdle();
  assert.deepEqual(holders(index, greet), []);
});

test('a full index keeps up with the files that it holds, and takes no others', async (t) => {
  const folder = temporaryFolder({ 'a.ts': area });
  const { index, logged } = open(t, temporaryFolder(), 10);
  index.setFolders([{ path: folder, exclude: [] }]);
  await index.whenIdle();
  const path = join(folder, 'a.ts');
  const uri = pathToFileURL(path).href;
  writeFileSync(path, greet);
  put(join(folder, 'b.ts'), area);
  index.filesChanged([pathToFileURL(folder).href]);
  await index.whenIdle();
  assert.deepEqual(holders(index, greet), [path]);
  assert.deepEqual(holders(index, area), []);
  assert.match(logged.join('\n'), /larger than its index/);
  index.documentChanged(uri, () => area);
  await waitFor('the text of the editor', () => holders(index, area).length === 1);
  index.documentClosed(uri);
  await index.whenIdle();
  assert.deepEqual(holders(index, greet), [path], 'a document that was open has its room still');
});

test('a folder that goes while it is loaded leaves nothing behind', async (t) => {
  const cacheDir = temporaryFolder();
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`${i}.ts`, greet]));
  const [gone, kept] = [temporaryFolder(many), temporaryFolder({ 'kept.ts': greet })];
  const first = open(t, cacheDir);
  first.index.setFolders([{ path: gone, exclude: [] }]);
  await first.index.whenIdle();
  await first.index.dispose();
  const { index } = open(t, cacheDir);
  const release = index.hold();
  index.setFolders([{ path: gone, exclude: [] }]);
  await pause(600);
  index.setFolders([{ path: kept, exclude: [] }]);
  release();
  await index.whenIdle();
  assert.equal(index.documentCount, 1);
  const similar = await index.similar(greet);
  assert.deepEqual(
    similar.texts.map(({ path }) => path),
    [join(kept, 'kept.ts')],
  );
});

test('where a workspace lies makes nothing in it a secret', async (t) => {
  const folder = join(temporaryFolder({ 'secrets/project/a.ts': area }), 'secrets', 'project');
  const { index } = open(t, temporaryFolder());
  index.setFolders([{ path: folder, exclude: [] }]);
  await index.whenIdle();
  const uri = pathToFileURL(join(folder, 'a.ts')).href;
  index.documentChanged(uri, () => greet);
  await waitFor('the text of the editor', () => holders(index, greet).length === 1);
  assert.deepEqual(holders(index, area), []);
  index.documentChanged(pathToFileURL(join(folder, '.env')).href, () => area);
  await pause(700);
  assert.deepEqual(holders(index, area), []);
});

test('background work rests while it is held', async (t) => {
  const folder = temporaryFolder({ 'a.ts': area });
  const { index } = open(t, temporaryFolder());
  // Until its worker has started there is nothing to hold.
  index.setFolders([{ path: temporaryFolder({ 'b.ts': greet }), exclude: [] }]);
  await index.whenIdle();
  assert.equal(index.documentCount, 1);
  const release = index.hold();
  index.setFolders([{ path: folder, exclude: [] }]);
  await pause(600);
  assert.equal(index.documentCount, 0);
  release();
  await index.whenIdle();
  assert.equal(index.documentCount, 1);
});

test('without a tokenizer the index stays empty and says why; stopping in the middle is quiet', async () => {
  const folder = temporaryFolder({ 'a.ts': area });
  const logged: string[] = [];
  const options = { vocabSize: 100, cacheDir: temporaryFolder(), onProgress: () => undefined };
  const broken = new WorkspaceIndex({
    ...options,
    modelDir: join(folder, 'no-model'),
    log: (_, message) => logged.push(message),
  });
  broken.setFolders([{ path: folder, exclude: [] }]);
  await broken.whenIdle();
  await broken.dispose();
  assert.match(logged.join('\n'), /tokenizer/);

  logged.length = 0;
  const stopped = new WorkspaceIndex({ ...options, modelDir, log: (_, message) => logged.push(message) });
  stopped.setFolders([{ path: folder, exclude: [] }]);
  await stopped.dispose();
  await stopped.whenIdle();
  assert.deepEqual(logged, []);
});

test('a folder that is taken away is gone from what is told, kept and quoted', async (t) => {
  const [stays, goes] = [temporaryFolder({ 'a.ts': area }), temporaryFolder({ 'b.ts': greet.repeat(400) })];
  const progress: IndexProgress[] = [];
  let changes = 0;
  const index = new WorkspaceIndex({
    modelDir,
    vocabSize: tokenizer.vocabSize,
    cacheDir: temporaryFolder(),
    onProgress: (report) => progress.push(report),
    onFoldersChanged: () => changes++,
    log: () => {},
  });
  t.after(() => index.dispose());
  index.setFolders([stays, goes].map((path) => ({ path, exclude: [] })));
  await index.whenIdle();
  const [tokens, changesBefore] = [index.tokenCount, changes];
  index.setFolders([{ path: stays, exclude: [] }]);
  await index.whenIdle();
  assert.ok(index.tokenCount < tokens);
  assert.deepEqual([progress.at(-1)?.state, progress.at(-1)?.tokens], ['ready', index.tokenCount]);
  assert.equal(changes, changesBefore + 1, 'prompts look again at what there is to quote');
  assert.deepEqual(holders(index, greet), []);
});
