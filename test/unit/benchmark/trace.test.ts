import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findDifferences } from '../../../engine/benchmark/differences.ts';
import { traceLongest, traceSteps } from '../../../engine/benchmark/trace.ts';
import { embeddedModelDir } from '../../../engine/embeddedModel.ts';
import { loadTokenizer } from '../../../engine/model/tokenizer.ts';
import { emptyTree, ROOT } from '../../../engine/tree/tokenTree.ts';
import { TokenTreeBuilder } from '../../../engine/tree/tokenTreeBuilder.ts';
import { attempt, measuredTask, task } from './attempts.ts';

const tokenizer = await loadTokenizer(embeddedModelDir);
const [foo, comma, bar] = ['foo', ',', ' bar'].map((text) => tokenizer.encode(text)[0]);
const end = tokenizer.specialTokens.get('<|endoftext|>')!;

function tree() {
  const builder = new TokenTreeBuilder();
  const first = builder.add(ROOT, foo, Math.log(0.5), 'document');
  builder.add(ROOT, comma, Math.log(0.25), 'workspace');
  builder.add(first, bar, Math.log(0.5), 'document');
  return builder.build(8);
}

test('a step shows what was drafted, from where, how probable, and what became of it', () => {
  const drafted = tree();
  const path = [0, drafted.tokens.indexOf(bar)];
  const [plain, speculated] = traceSteps(
    [
      { tree: emptyTree, accepted: [], bonus: comma, taken: 1, draftMs: 0, verifyMs: 2 },
      { tree: drafted, accepted: path, bonus: comma, taken: 3, draftMs: 1, verifyMs: 3 },
    ],
    tokenizer,
  );
  assert.deepEqual(plain, {
    drafted: [],
    bonus: { token: comma, text: ',' },
    text: ',',
    draft_ms: 0,
    verify_ms: 2,
  });
  assert.equal(speculated.text, 'foo bar,');
  assert.deepEqual(
    speculated.drafted.map(({ text, parent, source, outcome }) => [text, parent, source, outcome]),
    [
      ['foo', -1, 'document', 'accepted'],
      [',', -1, 'workspace', 'rejected'],
      [' bar', 0, 'document', 'accepted'],
    ],
  );
  for (const [i, probability] of [0.5, 0.25, 0.25].entries()) {
    assert.ok(Math.abs(speculated.drafted[i].probability - probability) < 1e-6);
  }
});

test('what was accepted behind the end of the text is of no use', () => {
  const drafted = tree();
  const path = [0, drafted.tokens.indexOf(bar)];
  const [step] = traceSteps(
    [{ tree: drafted, accepted: path, bonus: comma, taken: 1, draftMs: 0, verifyMs: 0 }],
    tokenizer,
  );
  assert.equal(step.drafted[path[1]].outcome, 'unused');
  assert.equal(step.bonus, null);
  assert.equal(step.text, 'foo');
});

test('characters of several tokens appear when they are whole, and control tokens are no text', () => {
  const tokens = [...tokenizer.encode('𓀀'), end];
  const steps = traceSteps(
    tokens.map((bonus) => ({ tree: emptyTree, accepted: [], bonus, taken: 1, draftMs: 0, verifyMs: 0 })),
    tokenizer,
  );
  assert.ok(tokens.length > 2);
  assert.equal(steps.map(({ text }) => text).join(''), '𓀀');
  assert.deepEqual(steps.at(-1), { ...steps.at(-1), text: '', bonus: { token: end, text: '<|endoftext|>' } });
});

test('the longest completion of each class is traced, by every algorithm, from where the model went on', () => {
  const steps = [{ tree: emptyTree, accepted: [], bonus: foo, taken: 1, draftMs: 0, verifyMs: 0 }];
  const long = { tokens: [1, 2, 3, 4], steps };
  const traces = traceLongest(
    [
      measuredTask(task(), attempt('none'), attempt('ngram')),
      measuredTask(task({ before: 'f() {\n  ' }), attempt('none', long), attempt('ngram', long)),
      measuredTask(task({ taskClass: 'block' }), attempt('none'), attempt('ngram')),
    ],
    tokenizer,
  );
  assert.deepEqual(
    traces.map(({ task, algorithm }) => [task, algorithm]),
    [
      [1, 'none'],
      [1, 'ngram'],
      [2, 'none'],
      [2, 'ngram'],
    ],
  );
  assert.deepEqual(
    traces.slice(0, 2).map(({ before }) => before),
    ['f() {\n', 'f() {\n'],
  );
});

test('a difference names task, position and both tokens', () => {
  const measured = [
    measuredTask(task(), attempt('none', { tokens: [foo, bar] }), attempt('ngram', { tokens: [foo, bar] })),
    measuredTask(task(), attempt('none', { tokens: [foo, bar] }), attempt('ngram', { tokens: [foo, comma] })),
    measuredTask(task(), attempt('none', { tokens: [foo, bar] }), attempt('ngram', { tokens: [foo] })),
  ];
  const differences = findDifferences(measured, tokenizer, 'cpu');
  assert.deepEqual(differences[0], {
    task: 1,
    algorithm: 'ngram',
    position: 1,
    expected: { token: bar, text: ' bar' },
    actual: { token: comma, text: ',' },
    is_fault: true,
    cause: 'ngram wrote "," where plain decoding wrote " bar": token 2 of the completion at a.ts:2:5.',
  });
  assert.match(differences[1].cause, /^ngram ended where plain decoding wrote " bar"/);
  assert.equal(differences.length, 2);
  assert.match(findDifferences(measured, tokenizer, 'webgpu')[0].cause, /near a tie/);
});
