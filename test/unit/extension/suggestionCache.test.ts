import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Edit,
  isSubsequence,
  type Place,
  rest,
  SuggestionCache,
} from '../../../extension/suggestionCache.ts';

/** A document with its cursor at `|`. */
function place(text: string, uri = 'file:///a'): Place {
  const [before, after] = text.split('|');
  return { uri, before, after };
}

/** An edit at the cursor that also replaces `covered` characters after it. */
function insert(at: Place, text: string, covered = 0): Edit {
  return { start: at.before.length, end: at.before.length + covered, text };
}

function apply({ before, after }: Place, { start, end, text }: Edit): string {
  const document = before + after;
  return document.slice(0, start) + text + document.slice(end);
}

test('typing what is suggested leaves the rest', () => {
  const from = place('let a|;');
  const edit = insert(from, ' = 42', 0);
  assert.deepEqual(rest(from, edit, place('let a =|;')), { start: 7, end: 7, text: ' 42' });
  assert.equal(rest(from, edit, place('let a +|;')), undefined, 'something else was typed');
  assert.equal(rest(from, edit, place('let a = 42|;')), undefined, 'nothing is left');
  assert.equal(rest(from, edit, place('let a =|; x')), undefined, 'the text after changed');
  assert.equal(rest(from, edit, place('let |;')), undefined, 'it was made for another beginning');
  assert.equal(rest(from, edit, place('let a =|;', 'file:///b')), undefined, 'another document');
});

test('a bracket that the editor closed is covered by the rest', () => {
  const from = place('f|\n');
  const edit = insert(from, '(a, b);', 0);
  assert.deepEqual(rest(from, edit, place('f(|)\n')), { start: 2, end: 3, text: 'a, b);' });
  assert.deepEqual(rest(from, edit, place('f(a|)\n')), { start: 3, end: 4, text: ', b);' });
  assert.equal(rest(from, edit, place('f(|]\n')), undefined, 'VS Code would not show it');
});

test('a bracket that the editor moved to a line of its own stays there', () => {
  const from = place('f() {|}\n');
  const edit = insert(from, '\n  go();\n}', 1);
  assert.deepEqual(rest(from, edit, place('f() {\n  |\n}\n')), { start: 8, end: 8, text: 'go();' });
  assert.equal(rest(from, edit, place('f() {\n  go();|\n}\n')), undefined, 'nothing is left');
  assert.equal(rest(from, edit, place('f() {\n  |\n\n}\n')), undefined, 'it would end otherwise');
});

test('what an edit replaces after the cursor stays covered', () => {
  const from = place('f(|)\n');
  const edit = insert(from, 'x, y)', 1);
  assert.deepEqual(rest(from, edit, place('f(x|)\n')), { start: 3, end: 4, text: ', y)' });
});

test('a suggestion that begins before the cursor is good for its own place only', () => {
  const from = place('    |\n');
  const edit: Edit = { start: 0, end: 4, text: '}' };
  assert.equal(rest(from, edit, place('    |\n')), edit);
  assert.equal(rest(from, edit, place('    }|\n')), undefined);
});

test('wherever one types along, the rest makes the very document that was promised', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '(', ')', '\n', '😀', ' '), maxLength: 12 });
  fc.assert(
    fc.property(text, text, text, fc.nat(12), text, (before, after, suggestion, typed, closed) => {
      const from: Place = { uri: 'u', before, after };
      const edit = insert(from, suggestion);
      const to: Place = { uri: 'u', before: before + suggestion.slice(0, typed), after: closed + after };
      const left = rest(from, edit, to);
      if (!left) return;
      assert.equal(apply(to, left), apply(from, edit));
      assert.ok(!to.after.slice(0, left.end - left.start).includes('\n'), 'on one line');
    }),
  );
});

test('the latest of the known suggestions that fit is found, also after going back', () => {
  const cache = new SuggestionCache();
  const one = place('a|');
  const two = place('ab|');
  cache.add(one, [insert(one, 'bc')]);
  cache.add(two, [insert(two, 'x')]);
  assert.equal(cache.find(two)?.text, 'x');
  assert.equal(cache.find(one)?.text, 'bc');
  assert.equal(cache.find(place('b|')), undefined);
  for (let i = 0; i < 20; i++) cache.add(place(`${i}|`), [insert(place(`${i}|`), 'y')]);
  assert.equal(cache.find(one), undefined, 'old ones are forgotten');
  cache.clear();
  assert.equal(cache.find(place('19|')), undefined);
});

test('of several suggestions for a place the first that fits what was typed is found', () => {
  const cache = new SuggestionCache();
  const at = place('a|');
  cache.add(at, [insert(at, 'bcd')]);
  cache.add(at, [insert(at, 'bcd'), insert(at, 'bxy'), insert(at, 'z')]);
  assert.equal(cache.find(at)?.text, 'bcd');
  assert.equal(cache.find(place('ab|'))?.text, 'cd');
  assert.equal(cache.find(place('abx|'))?.text, 'y');
  cache.add(at, []);
  assert.equal(cache.find(at), undefined, 'a place has the suggestions that were added last');
});

test('a subsequence is read in order', () => {
  assert.ok(isSubsequence('', ''));
  assert.ok(isSubsequence('")', 'a", b)'));
  assert.ok(!isSubsequence(')"', 'a", b)'));
});

test('one place takes one entry, however often it is suggested at', () => {
  const cache = new SuggestionCache();
  const elsewhere = place('let a|;');
  cache.add(elsewhere, [insert(elsewhere, ' = 42')]);
  for (let i = 0; i < 50; i++) cache.add(place('f|'), [insert(place('f|'), `(${i})`)]);
  assert.equal(cache.find(place('let a|;'))?.text, ' = 42');
  assert.equal(cache.find(place('f|'))?.text, '(49)');
});
