import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Match, MatchList } from '../../../engine/workspace/matchList.ts';
import { NgramIndex } from '../../../engine/workspace/ngramIndex.ts';

const VOCAB_SIZE = 100;

interface Place {
  readonly id: string;
  readonly length: number;
  readonly next: number;
}

/** What a lookup has to find, by looking at every place of every document. */
function search(documents: ReadonlyMap<string, readonly number[]>, query: readonly number[]): Place[] {
  const places: Place[] = [];
  for (const [id, tokens] of documents) {
    for (let next = 1; next < tokens.length; next++) {
      let length = 0;
      while (length < query.length && length < next && tokens[next - 1 - length] === query.at(-1 - length)) {
        length++;
      }
      places.push({ id, length, next });
    }
  }
  const least = places.some(({ length }) => length >= 8) ? 8 : 2;
  return places.filter(({ length }) => length >= least).sort((a, b) => b.length - a.length);
}

function continuation(match: Match): number[] {
  const { tokens, separator } = match.text;
  return [...tokens.subarray(match.next, tokens.indexOf(separator as never, match.next))];
}

function describe(index: NgramIndex, match: Match): string {
  return `${index.documentOf(match)} ${match.length} ${continuation(match)}`;
}

const token = fc.integer({ min: 0, max: 2 });
// All documents together have fewer places than a lookup may visit.
const text = fc.array(token, { maxLength: 24 });
const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const change = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), id, tokens: text }),
  fc.record({ kind: fc.constant('delete' as const), id }),
  fc.record({ kind: fc.constant('compact' as const) }),
);

test('a lookup finds what a search through all documents finds, whatever was added, removed and compacted', () => {
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 40 }),
      fc.array(token, { maxLength: 12 }),
      fc.constantFrom(VOCAB_SIZE, 100_000),
      (changes, query, vocabSize) => {
        const index = new NgramIndex({ vocabSize, segmentTokens: 20 });
        const documents = new Map<string, readonly number[]>();
        for (const step of changes) {
          if (step.kind === 'set') {
            index.set(step.id, step.tokens);
            documents.set(step.id, step.tokens);
          } else if (step.kind === 'delete') {
            assert.equal(index.delete(step.id), documents.delete(step.id));
          } else index.compact(10);
        }
        const found = index.lookup(vocabSize < 65535 ? Uint16Array.from(query) : Int32Array.from(query));
        const expected = search(documents, query);
        assert.deepEqual(
          found.map(({ length }) => length),
          expected.slice(0, 32).map(({ length }) => length),
        );
        const known = new Set(
          expected.map(({ id, length, next }) => `${id} ${length} ${documents.get(id)!.slice(next)}`),
        );
        for (const match of found) assert.ok(known.has(describe(index, match)), describe(index, match));
        assert.deepEqual([...index.documentIds()].sort(), [...documents.keys()].sort());
        for (const [id, tokens] of documents) assert.deepEqual([...index.tokensOf(id)!], tokens);
      },
    ),
    { numRuns: 500 },
  );
});

test('among equally long matches the newest comes first', () => {
  const index = new NgramIndex({ vocabSize: VOCAB_SIZE, segmentTokens: 8 });
  for (const [i, id] of ['old', 'middle', 'new'].entries()) index.set(id, [1, 2, 3, 10 + i]);
  const ids = () => index.lookup(Uint16Array.of(1, 2, 3)).map((match) => index.documentOf(match));
  assert.deepEqual(ids(), ['new', 'middle', 'old']);
  index.set('old', [1, 2, 3, 10]);
  assert.deepEqual(ids(), ['old', 'new', 'middle']);
});

test('neither a match nor a continuation crosses from one document into the next', () => {
  const index = new NgramIndex({ vocabSize: VOCAB_SIZE });
  index.set('a', [1, 2]);
  index.set('b', [3, 4, 5, 6]);
  index.set('c', [7]);
  assert.deepEqual(index.lookup(Uint16Array.of(1, 2, 3)), []);
  assert.equal(index.lookup(Uint16Array.of(2, 3, 4))[0].length, 2);
  const [match] = index.lookup(Uint16Array.of(2, 3, 4, 5));
  assert.equal(match.length, 3);
  assert.deepEqual(continuation(match), [6]);
});

test('compaction frees the room of removed documents in slices and keeps the others', () => {
  const index = new NgramIndex({ vocabSize: VOCAB_SIZE, segmentTokens: 1000 });
  const tokens = (i: number) => Array.from({ length: 90 }, (_, j) => (i * 7 + j * j) % VOCAB_SIZE);
  for (let i = 0; i < 100; i++) index.set(`file${i}`, tokens(i));
  const full = index.bytes;
  for (let i = 0; i < 100; i++) if (i % 5 !== 0) index.delete(`file${i}`);
  let slices = 0;
  while (index.compact(100)) slices++;
  assert.ok(slices > 5, `${slices} slices`);
  assert.ok(index.bytes < full / 2, `${index.bytes} of ${full} bytes`);
  for (let i = 0; i < 100; i += 5) assert.deepEqual([...index.tokensOf(`file${i}`)!], tokens(i));
});

test('editing documents over and over neither fills the index nor hides older ones', () => {
  const index = new NgramIndex({ vocabSize: VOCAB_SIZE, segmentTokens: 100_000 });
  const edited = Array.from({ length: 50 }, (_, i) => [1, 2, 10 + i]).flat();
  index.set('old', [7, 1, 2, 99]);
  for (let i = 0; i < 1000; i++) index.set('a', edited);
  const found = () => index.documentOf(index.lookup(Uint16Array.of(7, 1, 2))[0]);
  assert.equal(found(), 'old');
  assert.equal(index.bytes, segmentBytes(), 'still the first segment');
  for (let i = 0; i < 20; i++) index.set(i % 2 === 0 ? 'b' : 'a', edited);
  for (let i = 0; i < 25; i++) found();
  assert.equal(found(), 'old', 'erased places are walked over only once');
});

function segmentBytes(): number {
  const index = new NgramIndex({ vocabSize: VOCAB_SIZE, segmentTokens: 100_000 });
  index.set('one', [1]);
  return index.bytes;
}

test('a document larger than a segment is found whole', () => {
  const index = new NgramIndex({ vocabSize: VOCAB_SIZE, segmentTokens: 16 });
  const tokens = Array.from({ length: 200 }, (_, i) => (i * i) % 97);
  index.set('big', tokens);
  index.set('small', [1, 2, 3, 4]);
  assert.deepEqual([...index.tokensOf('big')!], tokens);
  assert.deepEqual(
    continuation(index.lookup(Uint16Array.from(tokens.slice(100, 120)))[0]),
    tokens.slice(120),
  );
});

test('a lookup visits a bounded number of places, however many there are', () => {
  const visits = (list: MatchList) => {
    let visited = 0;
    while (list.step()) visited++;
    return visited;
  };
  assert.equal(visits(new MatchList(4, 10, 256)), 256);
  const index = new NgramIndex({ vocabSize: VOCAB_SIZE });
  index.set('zeros', new Uint16Array(100_000));
  const full = new MatchList(4, 10, 256);
  for (const match of index.lookup(new Uint16Array(10)).slice(0, 4))
    full.offer(match.length, match.text, match.next);
  assert.equal(visits(full), 0, 'nothing can be better than what was found');
});
