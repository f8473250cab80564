import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ChangedCopySource } from '../../../engine/draft/changedCopySource.ts';
import { type PathEnd, textPath } from '../../../engine/draft/guess.ts';
import { NgramDrafter } from '../../../engine/draft/ngram.ts';
import { emptyTree, ROOT } from '../../../engine/tree/tokenTree.ts';
import { ChainedTokens } from '../../../engine/workspace/chainedTokens.ts';
import { NgramIndex } from '../../../engine/workspace/ngramIndex.ts';
import { newSessionId, specialTokenIds, suffixFirst, VOCAB_SIZE } from './sessionView.ts';

const copied = [1, 2, 3, 4, 5, 6, 7, 8, 9];
const before = 4;

/** A source that has seen the first four tokens of `copied` written once more, and then `written`. */
function copying(written: readonly number[]): ChangedCopySource {
  const text = new ChainedTokens(64, VOCAB_SIZE, { short: 1, long: 4 });
  text.append(copied, 0, copied.length);
  const source = new ChangedCopySource(() => {});
  source.follow([], { text, next: 1 + before, length: before });
  source.follow(written, undefined);
  return source;
}

const root = textPath([0]);
const path = (tokens: readonly number[]): PathEnd =>
  tokens.reduce<PathEnd>((end, token) => ({ token, before: end, depth: end.depth + 1 }), root);
const guessed = (source: ChangedCopySource, end = root) => source.after(end).map(({ token }) => token);

const changes: Readonly<Record<string, readonly number[]>> = {
  'a token was replaced': [50, 6],
  'a token was replaced by several': [50, 51, 52, 6],
  'several tokens were replaced': [50, 51, 6],
  'tokens were inserted': [50, 51, 5, 6],
  'a token was left out': [6],
  'an inserted token stands further on as well': [50, 7, 51, 5, 6],
};
for (const [change, written] of Object.entries(changes)) {
  test(`a copy goes on where it was left: ${change}`, () => {
    assert.deepEqual(guessed(copying(written)), [7]);
  });

  test(`the same inside drafts: ${change}`, () => {
    const source = copying([]);
    assert.deepEqual(guessed(source, path(written)), [7]);
    assert.deepEqual(guessed(source), [], 'and the text itself has not moved');
  });
}

test('several changes, one after the other', () => {
  assert.deepEqual(guessed(copying([50, 6, 7, 51])), [], 'under way');
  assert.deepEqual(guessed(copying([50, 6, 7, 51, 9])), [], 'the end of what was copied');
  assert.deepEqual(guessed(copying([50, 51, 5, 6, 52, 8])), [9]);
});

const silences: Readonly<Record<string, readonly number[]>> = {
  'what was never left is for the other sources': [5, 6],
  'a change is not over': [50],
  'it took too long': [50, 51, 52, 53, 54, 55, 56, 6],
  'the text came back too far on': [50, 9],
};
for (const [reason, written] of Object.entries(silences)) {
  test(`nothing is guessed: ${reason}`, () => assert.deepEqual(guessed(copying(written)), []));
}

test('a short match is no copy', () => {
  const text = new ChainedTokens(64, VOCAB_SIZE, { short: 1, long: 4 });
  text.append(copied, 0, copied.length);
  const source = new ChangedCopySource(() => {});
  source.follow([], { text, next: 4, length: 3 });
  source.follow([50, 5], undefined);
  assert.deepEqual(guessed(source), []);
});

test('another text begins without copies', () => {
  const source = copying([50, 6]);
  source.restart();
  source.follow([], undefined);
  assert.deepEqual(guessed(source), []);
});

test('the longer a copy has gone on, the surer it is, until the target says otherwise', () => {
  const [young] = copying([50, 6]).after(root);
  const source = copying([50, 5, 6, 7]);
  const [old] = source.after(root);
  assert.ok(old.probability > young.probability);
  for (let i = 0; i < 50; i++) source.learn(old, false);
  assert.ok(source.after(root)[0].probability < young.probability);
});

test('what lies behind the end of what is copied is another text', () => {
  const text = new ChainedTokens(64, VOCAB_SIZE, { short: 1, long: 4 });
  text.append(copied, 0, copied.length);
  text.append([VOCAB_SIZE, 50, 51], 0, 3);
  const source = new ChangedCopySource(() => {});
  source.follow([], { text, next: 1 + copied.length, length: copied.length });
  source.follow([50], undefined);
  assert.deepEqual(guessed(source), []);
});

test('distinct tokens of the vocabulary, whatever was written', () => {
  const token = fc.integer({ min: 0, max: 5 });
  const run = fc.record({ text: fc.array(token, { minLength: 8, maxLength: 40 }), written: fc.array(token) });
  fc.assert(
    fc.property(run, fc.array(token), ({ text: tokens, written }, drafted) => {
      const text = new ChainedTokens(64, VOCAB_SIZE, { short: 1, long: 4 });
      text.append(tokens, 0, tokens.length);
      const source = new ChangedCopySource(() => {});
      for (let i = 0; i < written.length; i++) {
        source.follow(written.slice(i, i + 1), { text, next: 5 + (i % (tokens.length - 4)), length: 4 });
      }
      const found = guessed(source, path(drafted));
      assert.equal(new Set(found).size, found.length);
      for (const guess of found) assert.ok(tokens.includes(guess));
    }),
  );
});

test('lines that are written again under another name are drafted to their end, and credited to their file', () => {
  // The line that follows the change stands in a file; the changed token and what follows it (50, 6) never stood together.
  const workspace = new NgramIndex({ vocabSize: VOCAB_SIZE });
  workspace.set('lines.ts', [...copied, 10, 11, 12]);
  const drafter = new NgramDrafter({ vocabSize: VOCAB_SIZE, specialTokenIds, workspace });
  const id = newSessionId();
  const prefix = [30, 1, 2, 3, 4];
  drafter.propose(suffixFirst({ prefix }, id), 8);
  drafter.observe({ tree: emptyTree, root: 92, accepted: [], bonus: 50 });
  drafter.propose(suffixFirst({ prefix, generated: [50] }, id), 8);
  drafter.observe({ tree: emptyTree, root: 50, accepted: [], bonus: 6 });
  const tree = drafter.propose(suffixFirst({ prefix, generated: [50, 6] }, id), 8);
  const chain = [7, 8, 9, 10, 11, 12];
  let parent = ROOT;
  const accepted = chain.map((token) => {
    parent = Array.from(tree.tokens).findIndex((t, node) => t === token && tree.parents[node] === parent);
    assert.notEqual(parent, -1, `${token} is drafted`);
    assert.equal(tree.sources[parent], 'changedCopy');
    return parent;
  });
  drafter.observe({ tree, root: 6, accepted, bonus: 60 });
  assert.equal(drafter.acceptedFrom.get('lines.ts'), chain.length);
});
