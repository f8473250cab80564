import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NgramDrafter } from '../../../engine/draft/ngram.ts';
import { ROOT, type TokenTree } from '../../../engine/tree/tokenTree.ts';
import { NgramIndex } from '../../../engine/workspace/ngramIndex.ts';
import { newSessionId, prefixFirst, specialTokenIds, suffixFirst, VOCAB_SIZE } from './sessionView.ts';

function drafter(workspace?: NgramIndex): NgramDrafter {
  return new NgramDrafter({ vocabSize: VOCAB_SIZE, specialTokenIds, workspace });
}

function workspaceOf(documents: Readonly<Record<string, readonly number[]>>): NgramIndex {
  const index = new NgramIndex({ vocabSize: VOCAB_SIZE });
  for (const [id, tokens] of Object.entries(documents)) index.set(id, tokens);
  return index;
}

/** The path that takes the most probable child each time. */
function bestPath(tree: TokenTree): number[] {
  const path: number[] = [];
  for (let parent = ROOT; ; ) {
    let best = ROOT;
    for (let node = 0; node < tree.size; node++) {
      if (tree.parents[node] !== parent) continue;
      if (best === ROOT || tree.logProbs[node] > tree.logProbs[best]) best = node;
    }
    if (best === ROOT) return path;
    path.push(tree.tokens[best]);
    parent = best;
  }
}

/** Verifies greedily against what the target would write. */
function verify(tree: TokenTree, target: readonly number[]): { accepted: number[]; bonus: number } {
  const accepted: number[] = [];
  let parent = ROOT;
  for (let node = 0; node < tree.size; node++) {
    if (tree.parents[node] !== parent || tree.tokens[node] !== target[accepted.length]) continue;
    accepted.push(node);
    parent = node;
  }
  return { accepted, bonus: target[accepted.length] };
}

function assertWellFormed(tree: TokenTree, budget: number): void {
  assert.ok(tree.size <= budget);
  const siblings = new Set<string>();
  for (let node = 0; node < tree.size; node++) {
    assert.ok(tree.parents[node] >= ROOT && tree.parents[node] < node);
    assert.ok(!specialTokenIds.has(tree.tokens[node]) && tree.tokens[node] < VOCAB_SIZE);
    const above = tree.parents[node] === ROOT ? 0 : tree.logProbs[tree.parents[node]];
    assert.ok(tree.logProbs[node] <= above && Number.isFinite(tree.logProbs[node]));
    const key = `${tree.parents[node]} ${tree.tokens[node]}`;
    assert.ok(!siblings.has(key));
    siblings.add(key);
  }
}

for (const [order, view] of Object.entries({ suffixFirst, prefixFirst })) {
  test(`${order}: the text before the cursor is continued across the marker between the two`, () => {
    const tree = drafter().propose(view({ prefix: [1, 2, 3, 4, 5, 6, 7, 1, 2, 3], suffix: [50, 51] }), 4);
    assert.deepEqual(bestPath(tree), [4, 5, 6, 7]);
  });

  test(`${order}: the text after the cursor is a source, and generated text goes on where it began`, () => {
    const generated = [2, 3, 4];
    const tree = drafter().propose(view({ prefix: [9, 1], suffix: [8, 1, 2, 3, 4, 5, 6], generated }), 8);
    assert.deepEqual(bestPath(tree), [5, 6]);
  });

  test(`${order}: the text before the cursor is not continued with the text after it by itself`, () => {
    const tree = drafter().propose(view({ prefix: [1, 2, 3], suffix: [4, 5, 6] }), 8);
    assert.equal(tree.size, 0);
  });
}

test('text that continues in several ways branches, by shares', () => {
  const prefix = [1, 2, 3, 10, 60, 1, 2, 3, 11, 61, 1, 2, 3, 11, 62, 1, 2, 3];
  const tree = drafter().propose(suffixFirst({ prefix }), 8);
  const roots = [...tree.tokens].filter((_, node) => tree.parents[node] === ROOT);
  assert.deepEqual(roots.sort(), [10, 11]);
  assert.equal(bestPath(tree)[0], 11);
});

test('the workspace drafts, and the session tells from which document', () => {
  const workspace = workspaceOf({ 'a.ts': [5, 6, 7, 8, 9, 10, 11], 'b.ts': [1, 2, 3, 4] });
  const draft = drafter(workspace);
  const tree = draft.propose(suffixFirst({ prefix: [0, 5, 6, 7] }), 4);
  assert.deepEqual(bestPath(tree), [8, 9, 10, 11]);
  assert.deepEqual(new Set(tree.sources), new Set(['workspace']));
  draft.observe({ tree, root: 7, ...verify(tree, [8, 9, 10, 33]) });
  assert.deepEqual([...draft.acceptedFrom], [['a.ts', 3]]);
  draft.propose(suffixFirst({ prefix: [0] }), 4);
  assert.deepEqual([...draft.acceptedFrom], []);
});

test('a document is not credited with what comes after the end of the text', () => {
  const draft = drafter(workspaceOf({ 'a.ts': [5, 6, 7, 8, 9, 10, 11] }));
  const view = suffixFirst({ prefix: [0, 5, 6, 7] });
  const tree = draft.propose(view, 4);
  const verified = verify(tree, [8, 9, 10, 33]);
  for (const [taken, credited] of [
    [0, []],
    [2, [['a.ts', 2]]],
    [4, [['a.ts', 3]]],
  ] as const) {
    draft.propose({ ...view, id: newSessionId() }, 4);
    draft.observe({ tree, root: 7, ...verified, taken });
    assert.deepEqual([...draft.acceptedFrom], credited);
  }
});

test("the document's own place in the workspace is no source, the rest of the document is", () => {
  const suffix = [20, 21, 22, 23];
  const text = { prefix: [1, 2, 3, 4], suffix, document: 'self.ts' };
  const own = { 'self.ts': [1, 2, 3, 4, ...suffix] };
  assert.equal(drafter(workspaceOf(own)).propose(suffixFirst(text), 8).size, 0);
  const withMore = { 'self.ts': [1, 2, 3, 4, ...suffix, 1, 2, 3, 4, 30, 31] };
  assert.deepEqual(bestPath(drafter(workspaceOf(withMore)).propose(suffixFirst(text), 8)), [30, 31]);
  const copy = { 'copy.ts': own['self.ts'] };
  assert.deepEqual(bestPath(drafter(workspaceOf(copy)).propose(suffixFirst(text), 8)), suffix);
});

const tokens = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 60 });
const wildTokens = fc.array(fc.integer({ min: 0, max: VOCAB_SIZE - 1 }), { maxLength: 60 });
interface Session {
  readonly prefix: number[];
  readonly suffix: number[];
  readonly target: number[];
  readonly order: typeof suffixFirst;
  readonly budget: number;
}
const session: fc.Arbitrary<Session> = fc.record({
  prefix: fc.oneof(tokens, wildTokens),
  suffix: tokens,
  target: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 12, maxLength: 20 }),
  order: fc.constantFrom(suffixFirst, prefixFirst),
  budget: fc.integer({ min: 0, max: 24 }),
});

/** Drives sessions as the decoder does; `check` sees every tree. */
function decode(
  draft: NgramDrafter,
  { prefix, suffix, target, order, budget }: Session,
  check: (tree: TokenTree) => void,
): void {
  const id = newSessionId();
  for (let done = 0; done < target.length; ) {
    const view = order({ prefix, suffix, generated: target.slice(0, done) }, id);
    const tree = draft.propose(view, budget);
    check(tree);
    const verdict = verify(tree, [...target.slice(done), 0]);
    draft.observe({ tree, root: view.tokens[view.tokens.length - 1], ...verdict });
    done += verdict.accepted.length + 1;
  }
}

test('proposals are well-formed trees within the budget, whatever the text', () => {
  const workspace = workspaceOf({
    a: [0, 1, 2, 3, 4, 5, 0, 1, 2, 0, 1, 2, 3],
    b: [5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0],
  });
  fc.assert(
    fc.property(fc.array(session, { maxLength: 4 }), (sessions) => {
      const draft = drafter(workspace);
      for (const one of sessions) decode(draft, one, (tree) => assertWellFormed(tree, one.budget));
    }),
  );
});
