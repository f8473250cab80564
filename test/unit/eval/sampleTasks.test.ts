import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { codeFiles, readCode } from '../../../engine/eval/codeFiles.ts';
import { type EvalTask, maskKinds } from '../../../engine/eval/evalTask.ts';
import { sampleTasks } from '../../../engine/eval/sampleTasks.ts';
import { seededRandom } from '../../../engine/seededRandom.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const sampleWorkspace = fileURLToPath(new URL('../../fixtures/sample-workspace', import.meta.url));

async function sample(folder: string, count: number, seed: number): Promise<EvalTask[]> {
  return sampleTasks(folder, await codeFiles(folder), count, seededRandom(seed));
}

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** Has no half of a surrogate pair. */
const isWellFormed = (text: string) => !/\p{Surrogate}/u.test(text);

test('a document with its span put back is the document', async () => {
  const files = await codeFiles(sampleWorkspace);
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 40 }), async (seed, count) => {
      const tasks = await sampleTasks(sampleWorkspace, files, count, seededRandom(seed));
      assert.equal(tasks.length, count);
      for (const { path, before, truth, after } of tasks) {
        const file = files.find((known) => known.path === path)!;
        assert.equal(before + truth + after, await readCode(sampleWorkspace, file));
        assert.match(truth, /[\p{L}\p{N}]/u);
        assert.ok(isWellFormed(truth));
      }
    }),
    { numRuns: 20 },
  );
});

test('the kinds come in equal parts, and each is what it says', async () => {
  const tasks = await sample(sampleWorkspace, 82, 3);
  const counts = maskKinds.map((kind) => tasks.filter((task) => task.kind === kind).length);
  assert.deepEqual(counts, [21, 21, 20, 20]);
  for (const { kind, before, truth, after } of tasks) {
    const lineBefore = before.slice(before.lastIndexOf('\n') + 1);
    if (kind === 'line_rest') assert.match(lineBefore, /\S/);
    if (kind === 'line' || kind === 'block') assert.match(lineBefore, /^\s*$/);
    if (kind !== 'block') assert.ok(!truth.includes('\n'));
    if (kind === 'arguments') assert.ok(before.endsWith('(') && after.startsWith(')'));
    else assert.match(after, /^\s*(\n|$)/);
  }
});

test('no place is chosen twice; a small folder has what it has', async () => {
  const folder = folderOf({ 'a.py': 'def f(a):\n    return g(abc)\n' });
  const tasks = await sample(folder, 100, 1);
  const truths = tasks.map(({ kind, truth }) => `${kind} ${truth}`);
  const certain = truths.filter((truth) => !truth.startsWith('line_rest')).sort();
  assert.deepEqual(certain, ['arguments abc', 'block return g(abc)', 'line def f(a):', 'line return g(abc)']);
  assert.equal(truths.length, 6);
});

test('a seed chooses the same tasks again, another seed others', async () => {
  assert.deepEqual(await sample(sampleWorkspace, 12, 5), await sample(sampleWorkspace, 12, 5));
  assert.notDeepEqual(await sample(sampleWorkspace, 12, 5), await sample(sampleWorkspace, 12, 6));
});

test('nothing is held back in ignored, secret, built and other files than code', async () => {
  const code = 'const value = compute(first, second);\n';
  const folder = folderOf({
    'src/a.js': code,
    'src/generated/b.js': code,
    '.gitignore': 'generated\n',
    'node_modules/c/index.js': code,
    'secrets/d.js': code,
    '.env.js': code,
    'e.min.js': code,
    'f.json': '{ "a": 1 }',
    'g.md': code,
    'h.js': '\0binary',
    'i.js': `${'x'.repeat(500_000)}\n`,
  });
  const tasks = await sample(folder, 200, 1);
  assert.ok(tasks.length > 0);
  assert.deepEqual([...new Set(tasks.map(({ path }) => path))], ['src/a.js']);
});

test('comments and the text of long strings are left out', async () => {
  const folder = folderOf({
    'a.js':
      '/**\n * Prose about things.\n */\nlet a = `\nmore prose here\n`;\nlet b = 1; // of that\nlet c = f(d);\n',
  });
  const truths = (await sample(folder, 100, 1)).map(({ kind, truth }) => `${kind} ${truth}`);
  assert.ok(truths.includes('line let c = f(d);') && truths.includes('arguments d') === false);
  assert.equal(truths.filter((truth) => /prose|things|that/i.test(truth)).length, 0);
});

test('a surrogate pair stays whole, and Windows line ends stay outside', async () => {
  const folder = folderOf({ 'a.js': "let a = '👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧x';\r\n".repeat(40) });
  const tasks = await sample(folder, 200, 1);
  assert.ok(tasks.some(({ kind }) => kind === 'line_rest'));
  for (const { before, truth, after } of tasks) {
    assert.ok(isWellFormed(truth) && isWellFormed(before) && !truth.includes('\r'));
    assert.ok(after.startsWith('\r\n'));
  }
});
