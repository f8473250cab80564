import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { featuresOf, likenessTo, scoreOf } from '../../../engine/text/likeness.ts';
import { cutWindows } from '../../../engine/text/lineWindows.ts';
import { SimilarityIndex, WINDOW_LINES } from '../../../engine/workspace/similarityIndex.ts';

const words = ['alpha', 'beta', 'gamma', 'delta', 'omega', 'return', 'const x =', 'function area('];
const line = fc.array(fc.constantFrom(...words), { maxLength: 4 }).map((some) => some.join(' '));
const text = fc.array(line, { maxLength: 70 }).map((lines) => lines.join('\n'));
const files = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), text);
const stamp = (size: number) => ({ size, mtimeMs: 1 });

/** The scores of all windows of all files, computed with the words themselves. */
function naive(contents: Readonly<Record<string, string>>, near: string) {
  const windows = Object.entries(contents).flatMap(([path, content]) =>
    cutWindows(content, WINDOW_LINES).map((window, i) => ({
      path,
      window: i,
      features: featuresOf(window.text),
    })),
  );
  const countOf = (feature: string) => windows.filter(({ features }) => features.has(feature)).length;
  const inverse = (feature: string) => Math.log(1 + windows.length / (countOf(feature) || 0.5));
  const mentions = windows.flatMap(({ features }) => [...features]);
  const mean = mentions.reduce((sum, feature) => sum + inverse(feature), 0) / (mentions.length || 1);
  const wanted = likenessTo(near, (feature) => inverse(feature) / (mean || 1));
  return windows.map((window) => ({ ...window, score: scoreOf(window.features, wanted) }));
}

test('scores are those of the words themselves, and the best one is found', () => {
  fc.assert(
    fc.property(files, text, (contents, near) => {
      const index = new SimilarityIndex();
      for (const [path, content] of Object.entries(contents)) index.set(path, content, stamp(1));
      const expected = naive(contents, near);
      const found = index.find(near, 100);
      for (const { path, window, score } of found) {
        const same = expected.find((one) => one.path === path && one.window === window)!;
        assert.ok(Math.abs(same.score - score) < 1e-4, `${path} ${window}: ${score}, not ${same.score}`);
      }
      const best = Math.max(0, ...expected.map(({ score }) => score));
      assert.ok(Math.abs((found[0]?.score ?? 0) - best) < 1e-4);
    }),
  );
});

test('windows that overlap are found once, and no more than asked for, best first', () => {
  const index = new SimilarityIndex();
  for (let i = 0; i < 30; i++) index.set(`${i}`, `alpha\n${'beta\n'.repeat(2 * i)}`, stamp(i));
  const found = index.find('alpha beta', 5);
  assert.equal(found.length, 5);
  assert.deepEqual(
    found.map(({ score }) => score),
    found.map(({ score }) => score).sort((a, b) => b - a),
  );
  assert.equal(new Set(found.map(({ path }) => path)).size, 5);
});

test('changed, deleted and restored files are as if they were new', () => {
  const edits = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.option(text)), { maxLength: 12 });
  fc.assert(
    fc.property(edits, text, (steps, near) => {
      const index = new SimilarityIndex();
      const contents: Record<string, string> = {};
      for (const [i, [path, content]] of steps.entries()) {
        if (content === null) {
          index.delete(path);
          delete contents[path];
        } else {
          index.set(path, content, stamp(i));
          contents[path] = content;
        }
      }
      const fresh = new SimilarityIndex();
      for (const [path, content] of Object.entries(contents)) fresh.set(path, content, stamp(0));
      const paths = Object.keys(contents).sort();
      assert.deepEqual(index.find(near, 100, paths), fresh.find(near, 100, paths));

      const entries = paths.map((path) => ({ path, ...stamp(0), tokenCount: 1 }));
      const restored = new SimilarityIndex();
      assert.equal(restored.restore(entries, index.save(entries)).size, 0);
      assert.deepEqual(restored.find(near, 100, paths), fresh.find(near, 100, paths));
    }),
  );
});

test('files whose windows were not saved are told, the others restored', () => {
  const index = new SimilarityIndex();
  index.set('a', 'alpha', stamp(1));
  index.set('z', 'alpha', stamp(1));
  const entry = (path: string, tokenCount: number) => ({ path, ...stamp(1), tokenCount });
  const entries = [entry('a', 1), entry('gone', 1), entry('picture', 0), entry('z', 1)];
  const restored = new SimilarityIndex();
  assert.deepEqual([...restored.restore(entries, index.save(entries))], ['gone']);
  assert.deepEqual(restored.find('alpha', 9), index.find('alpha', 9));
  for (const damaged of [new Uint16Array(0), Uint16Array.of(5, 1)]) {
    assert.deepEqual([...new SimilarityIndex().restore([entry('a', 1)], damaged)], ['a']);
  }
});

test('it takes at most two bytes a token', () => {
  const source = cutWindows.toString() + SimilarityIndex.toString();
  const index = new SimilarityIndex();
  const empty = index.bytes;
  for (let i = 0; i < 50; i++) index.set(`${i}`, source, stamp(i));
  const tokens = (50 * source.length) / 4;
  assert.ok(index.bytes - empty <= 2 * tokens, `${(index.bytes - empty) / tokens}`);
});
