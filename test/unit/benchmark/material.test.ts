import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFolder, readSample, readWorkspace } from '../../../engine/benchmark/material.ts';
import { seededRandom } from '../../../engine/seededRandom.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const never = new AbortController().signal;
const paths = (material: { documents: readonly { path: string }[] }) =>
  material.documents.map(({ path }) => path);

test('a folder gives the text files that an editor would index, sorted', async () => {
  const folder = temporaryFolder({
    'src/b.ts': 'b',
    'src/a.ts': 'a',
    'README.md': 'text',
    '.env': 'SECRET=1',
    'node_modules/x/index.js': 'x',
    'built/out.js': 'out',
    '.gitignore': 'built/\n',
    'image.png': Uint8Array.of(0, 1, 2),
  });
  const material = await readFolder(folder, seededRandom(1), never);
  assert.deepEqual(paths(material), ['.gitignore', 'README.md', 'src/a.ts', 'src/b.ts']);
  assert.equal(material.kind, 'folder');
  assert.equal(material.isPartial, false);
});

test('several folders of a workspace are told apart, and what the editor excludes stays out', async () => {
  const one = temporaryFolder({ 'a.ts': 'a', 'gen/x.ts': 'x' });
  const two = temporaryFolder({ 'a.ts': 'a' });
  const folders = [
    { path: one, exclude: ['gen/**'] },
    { path: two, exclude: [] },
  ];
  const material = await readWorkspace(folders, seededRandom(1), never);
  assert.equal(material.documents.length, 2);
  assert.ok(paths(material).every((path) => /^slipstream-test-\w+\/a\.ts$/.test(path)));
});

test('of a large workspace some files are drawn by the seed', async () => {
  const text = `${'const a = 1;\n'.repeat(15_000)}`;
  const files = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i + 10}.ts`, text]));
  const folder = temporaryFolder(files);
  const draw = (seed: number) => readFolder(folder, seededRandom(seed), never);
  const drawn = await draw(1);
  assert.ok(drawn.isPartial && drawn.documents.length > 10 && drawn.documents.length < 30);
  assert.deepEqual(paths(await draw(1)), paths(drawn));
  assert.notDeepEqual(paths(await draw(2)), paths(drawn));
});

test('the sample files are there', async () => {
  const sample = await readSample(seededRandom(1), never);
  assert.ok(paths(sample).includes('src/bookings.ts'));
});
