import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { editSimilarity } from '../../../engine/eval/editSimilarity.ts';
import type { EvalTask } from '../../../engine/eval/evalTask.ts';
import { score } from '../../../engine/eval/score.ts';
import { summarize } from '../../../engine/eval/summarize.ts';
import { loadSyntax } from '../../../engine/syntax/syntax.ts';

const javascript = await loadSyntax('javascript');

function task(before: string, truth: string, after: string): EvalTask {
  return { path: 'a.js', language: 'javascript', kind: 'line', before, truth, after };
}

const scoreOf = (place: EvalTask, text: string, covered = 0) =>
  score({ task: place, suggestion: { text, covered } }, javascript);

test('edit similarity is 1 - distance / longer length', () => {
  assert.equal(editSimilarity('kitten', 'sitting'), 1 - 3 / 7);
  assert.equal(editSimilarity('', 'abc'), 0);
  assert.equal(editSimilarity('', ''), 1);
});

test('edit similarity lies between 0 and 1, is 1 for the same text alone, and has no sides', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      const similarity = editSimilarity(a, b);
      assert.ok(similarity >= 0 && similarity <= 1);
      assert.equal(similarity === 1, a === b);
      assert.equal(similarity, editSimilarity(b, a));
    }),
  );
});

test('the real text has full marks, whatever white space its lines end with', () => {
  const full = { exactMatch: 1, editSimilarity: 1, firstLineMatch: 1, parses: 1 };
  assert.deepEqual(scoreOf(task('a;\n', 'b(c);\nd();', '\n'), 'b(c);  \r\nd();\n'), full);
});

test('a suggestion that writes the closers after the cursor again is compared with them', () => {
  const place = task('f(', 'a, b', ');\n');
  assert.equal(scoreOf(place, 'a, b);', 2).exactMatch, 1);
  assert.equal(scoreOf(place, 'a, b', 0).exactMatch, 1);
  assert.equal(scoreOf(place, 'a, b);', 0).exactMatch, 0);
});

test('the first line alone may match', () => {
  const { exactMatch, firstLineMatch, editSimilarity } = scoreOf(task('', 'a();\nb();', ''), 'a();\nc();');
  assert.deepEqual([exactMatch, firstLineMatch, editSimilarity], [0, 1, 1 - 1 / 9]);
});

test('a document parses when it has no more problems than the real one', () => {
  assert.equal(scoreOf(task('f(', 'a', ');\n'), 'b').parses, 1);
  assert.equal(scoreOf(task('f(', 'a', ');\n'), 'b)').parses, 0);
  assert.equal(scoreOf(task('}\nf(', 'a', ');\n'), 'b').parses, 1);
});

test('no suggestion has no marks, and no document that could parse', () => {
  const empty = { task: task('', 'a', ''), suggestion: { emptyReason: 'the model wrote nothing' } };
  assert.deepEqual(score(empty, javascript), {
    exactMatch: 0,
    editSimilarity: 0,
    firstLineMatch: 0,
    parses: undefined,
  });
});

test('results sum up all, then kinds, then languages; what was not shown is not parsed', () => {
  const completed = (
    language: EvalTask['language'],
    kind: EvalTask['kind'],
    exact: number,
    parses?: number,
  ) => ({
    task: { ...task('', 'a', ''), language, kind },
    suggestion: { emptyReason: '' },
    score: { exactMatch: exact, editSimilarity: exact / 2, firstLineMatch: 1, parses },
  });
  const results = summarize(
    [
      completed('python', 'line', 1, 1),
      completed('python', 'block', 0),
      completed('go', 'block', 0, 0),
      completed('go', 'arguments', 1),
    ],
    1,
  );
  const facts = results.map((r) => [
    r.language,
    r.kind,
    r.n,
    r.shown,
    r.exact_match,
    r.edit_similarity,
    r.parse_rate,
  ]);
  assert.deepEqual(facts, [
    ['all', 'all', 4, 0.5, 0.5, 0.25, 0.5],
    ['all', 'single_line', 2, 0.5, 1, 0.5, 1],
    ['all', 'line', 1, 1, 1, 0.5, 1],
    ['all', 'block', 2, 0.5, 0, 0, 0],
    ['all', 'arguments', 1, 0, 1, 0.5, null],
    ['go', 'all', 2, 0.5, 0.5, 0.25, 0],
    ['go', 'single_line', 1, 0, 1, 0.5, null],
    ['go', 'block', 1, 1, 0, 0, 0],
    ['go', 'arguments', 1, 0, 1, 0.5, null],
    ['python', 'all', 2, 0.5, 0.5, 0.25, 1],
    ['python', 'single_line', 1, 1, 1, 0.5, 1],
    ['python', 'line', 1, 1, 1, 0.5, 1],
    ['python', 'block', 1, 0, 0, 0, null],
  ]);
  const {
    exact_match_ci: [low, high],
    parse_rate_ci,
  } = results[0];
  assert.ok(low >= 0 && low < 0.5 && high > 0.5 && high <= 1 && parse_rate_ci !== null);
});
