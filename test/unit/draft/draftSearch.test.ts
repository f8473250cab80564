import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DraftSearch } from '../../../engine/draft/draftSearch.ts';
import { type Guess, type GuessSource, textPath } from '../../../engine/draft/guess.ts';
import { type DraftSource, emptyTree, ROOT, type TokenTree } from '../../../engine/tree/tokenTree.ts';

/** Guesses by the path so far: "" after the text, " 1 2" after tokens 1 and 2. */
type Pool = Readonly<Record<string, Readonly<Record<number, number>>>>;

interface PoolGuess extends Guess {
  readonly path: string;
}

class PoolSource implements GuessSource<PoolGuess> {
  readonly name: DraftSource;
  readonly learned: [path: string, accepted: boolean][] = [];
  readonly credited: string[] = [];
  readonly #pool: Pool;

  constructor(name: DraftSource, pool: Pool) {
    this.name = name;
    this.#pool = pool;
  }

  after({ depth }: { depth: number }, own: PoolGuess | undefined): PoolGuess[] {
    if (depth > 0 && !own) return [];
    const before = own?.path ?? '';
    return Object.entries(this.#pool[before] ?? {}).map(([token, probability]) => ({
      token: Number(token),
      probability,
      path: `${before} ${token}`,
    }));
  }

  learn({ path }: PoolGuess, accepted: boolean): void {
    this.learned.push([path, accepted]);
  }

  credit({ path }: PoolGuess): void {
    this.credited.push(path);
  }
}

const text = textPath([7]);

function pathsOf(tree: TokenTree): string[] {
  const paths: string[] = [];
  for (let node = 0; node < tree.size; node++) {
    paths.push(`${tree.parents[node] === ROOT ? '' : paths[tree.parents[node]]} ${tree.tokens[node]}`);
  }
  return paths;
}

const probability = fc.double({ min: 0.01, max: 0.99, noNaN: true });
const siblings = fc.dictionary(fc.constantFrom('1', '2', '3'), probability);
const paths = ['', ' 1', ' 2', ' 3', ' 1 1', ' 1 2', ' 2 1', ' 1 1 1'];
const pool: fc.Arbitrary<Pool> = fc.record(Object.fromEntries(paths.map((path) => [path, siblings])));

/** All that a source could draft, by a search without limits. */
function everything(search: DraftSearch): TokenTree {
  return search.draft(text, { budget: 1000, leastProbability: 0 });
}

test('the most probable paths are found: no other tree of that size is more probable', () => {
  fc.assert(
    fc.property(fc.array(pool, { minLength: 1, maxLength: 3 }), fc.nat(12), (pools, budget) => {
      const names = ['document', 'workspace', 'recycled'] as const;
      const search = new DraftSearch(pools.map((one, i) => new PoolSource(names[i], one)));
      const all = everything(search);
      const tree = search.draft(text, { budget, leastProbability: 0 });
      assert.equal(tree.size, Math.min(budget, all.size));
      const best = [...all.logProbs].sort((a, b) => b - a).slice(0, budget);
      assert.deepEqual(
        [...tree.logProbs].sort((a, b) => b - a),
        best,
      );
    }),
  );
});

test('trees of several sources have parents before children, distinct siblings, and paths that only get less probable', () => {
  fc.assert(
    fc.property(fc.array(pool, { minLength: 2, maxLength: 3 }), fc.nat(30), (pools, budget) => {
      const names = ['document', 'workspace', 'recycled'] as const;
      const search = new DraftSearch(pools.map((one, i) => new PoolSource(names[i], one)));
      const tree = search.draft(text, { budget, leastProbability: 0.01 });
      assert.equal(new Set(pathsOf(tree)).size, tree.size);
      for (let node = 0; node < tree.size; node++) {
        const parent = tree.parents[node];
        assert.ok(parent >= ROOT && parent < node);
        assert.ok(tree.logProbs[node] <= (parent === ROOT ? 0 : tree.logProbs[parent]));
        assert.ok(Math.exp(tree.logProbs[node]) > 0.009);
      }
    }),
  );
});

test('a source is continued where it guessed the path, under the name of the one that is surest', () => {
  const document = new PoolSource('document', { '': { 1: 0.9 }, ' 1': { 2: 0.9 } });
  const recycled = new PoolSource('recycled', { '': { 1: 0.5, 3: 0.4 }, ' 3': { 4: 0.9 } });
  const tree = everything(new DraftSearch([document, recycled]));
  const sources = new Map(pathsOf(tree).map((path, node) => [path, tree.sources[node]]));
  assert.deepEqual(
    sources,
    new Map<string, DraftSource>([
      [' 1', 'document'],
      [' 1 2', 'document'],
      [' 3', 'recycled'],
      [' 3 4', 'recycled'],
    ]),
  );
});

test('sources that agree are believed more, one that others contradict less', () => {
  const probabilityOf = (...pools: Pool[]) => {
    const names = ['document', 'recycled'] as const;
    const tree = everything(new DraftSearch(pools.map((one, i) => new PoolSource(names[i], one))));
    return Math.exp(tree.logProbs[[...tree.tokens].indexOf(1)]);
  };
  const sure = { '': { 1: 0.7 } };
  const alone = probabilityOf(sure, {});
  assert.ok(probabilityOf(sure, { '': { 1: 0.7 } }) > alone);
  assert.ok(probabilityOf(sure, { '': { 2: 0.7 } }) < alone);
});

test('sources learn what became of each guess whose path was written, also of what was not verified', () => {
  const source = new PoolSource('document', {
    '': { 1: 0.8, 2: 0.1 },
    ' 1': { 3: 0.7, 4: 0.2 },
    ' 2': { 9: 0.9 },
    ' 1 3': { 5: 0.6 },
  });
  const search = new DraftSearch([source]);
  const tree = search.draft(text, { budget: 1, leastProbability: 0 });
  everything(search);
  search.learn({ tree, root: 7, accepted: [0], bonus: 4 });
  assert.deepEqual(
    source.learned,
    [
      [' 1', true],
      [' 2', false],
      [' 3', false],
      [' 4', true],
    ].map(([path, accepted]) => [`${path === ' 3' || path === ' 4' ? ' 1' : ''}${path}`, accepted]),
  );
  assert.deepEqual(source.credited, [' 1']);
});

test('nothing is learned twice, nor from a pass without a draft', () => {
  const source = new PoolSource('document', { '': { 1: 0.8 } });
  const search = new DraftSearch([source]);
  const verdict = { tree: everything(search), root: 7, accepted: [0], bonus: 4 };
  search.learn(verdict);
  search.learn({ ...verdict, tree: emptyTree, accepted: [] });
  assert.equal(source.learned.length, 1);
});

test('guesses of a cancelled request are not held against the next text, those cut before a pass are', () => {
  const source = new PoolSource('document', { '': { 1: 0.8 } });
  const search = new DraftSearch([source]);
  const unverified = { tree: emptyTree, root: 7, accepted: [], bonus: 4 };
  everything(search);
  search.learn({ ...unverified, drafting: 'notAsked' });
  assert.deepEqual([source.learned, search.reliability], [[], []]);
  everything(search);
  search.learn({ ...unverified, drafting: 'drafted' });
  assert.deepEqual(source.learned, [[' 1', false]]);
});

test('predictions are compared with what was written, by source', () => {
  const search = new DraftSearch([new PoolSource('document', { '': { 1: 0.8, 2: 0.1 } })]);
  for (let i = 0; i < 200; i++) {
    const tree = everything(search);
    search.learn({ tree, root: 7, accepted: i % 4 === 0 ? [] : [0], bonus: 2 });
  }
  const sure = search.reliability.filter(({ predicted }) => predicted > 0.5);
  const guesses = sure.reduce((sum, { count }) => sum + count, 0);
  const accepted = sure.reduce((sum, bucket) => sum + bucket.accepted * bucket.count, 0) / guesses;
  assert.deepEqual([guesses, accepted], [200, 0.75]);
  assert.ok(search.reliability.every(({ source }) => source === 'document'));
});
