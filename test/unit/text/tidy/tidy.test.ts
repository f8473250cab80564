import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { editPointAt } from '../../../../engine/text/editPoint.ts';
import { shapePartial, tidy } from '../../../../engine/text/tidy/tidy.ts';
import { accept, acceptedAt, contextAt } from './tidyAt.ts';

const cases: [marked: string, written: string, accepted: string][] = [
  ['x = │', 'a + b;', 'x = a + b;│'],
  ['foo(│)', 'a, b);', 'foo(a, b);│'],
  ['foo(│);\nbar();', 'a, b);', 'foo(a, b);│\nbar();'],
  ['foo("│");', 'a b");', 'foo("a b");│'],
  ['f(│, b);', 'a, b);', 'f(a, b);│'],
  ['f(│)', ')', '(stands there already)'],
  ['f() {│}', '\n\ta();\n}', 'f() {\n  a();\n}│'],
  ['f() {│\n}', '\n  a();\n}', 'f() {\n  a();│\n}'],
  ['f() {\r\n  │\r\n}\r\n', '  a();\r\n  b();\n', 'f() {\r\n  a();\r\n  b();│\r\n}\r\n'],
  ['│', '', '(the model wrote nothing)'],
  ['│', '<|endoftext|>', '(a special token only)'],
  ['x = │', '   ', '(white space only)'],
  ['  │\n  b();', '  b();', '(repeats what follows)'],
  ['f() {\n\t│\n}', '\ta();\n\tb();', 'f() {\n\ta();\n  b();│\n}'],
  ['│', '🦙"漢"', '🦙"漢"│'],
];

for (const [marked, written, accepted] of cases) {
  test(`${JSON.stringify(marked)} with ${JSON.stringify(written)}`, () => {
    assert.equal(acceptedAt(marked, written), accepted);
  });
}

test('the suggestion extends the selected item and covers its range', () => {
  const range = { start: { line: 1, character: 4 }, end: { line: 1, character: 6 } };
  const point = editPointAt('x\r\nlog.wa()', 9, 1, { range, text: 'warn' });
  const result = tidy('("hot");', { ...contextAt('│'), point });
  assert.ok(result.kind === 'text');
  assert.equal(result.text, 'warn("hot");');
  assert.deepEqual(result.range.start, range.start);
  assert.equal(accept('x\r\nlog.wa()', result), 'x\r\nlog.warn("hot");│()');
});

test('the selected item and closers after it', () => {
  const range = { start: { line: 0, character: 2 }, end: { line: 0, character: 4 } };
  const point = editPointAt('f(na)', 4, 0, { range, text: 'name' });
  const result = tidy(', 1);', { ...contextAt('│'), point });
  assert.ok(result.kind === 'text');
  assert.equal(accept('f(na)', result), 'f(name, 1);│');
});

test('whatever was written, the range lies on the line and the rest of the document stays', () => {
  const unit = fc.constantFrom('a', ' ', '\t', '\n', '\r\n', '(', ')', '}', '"', ';', '🦙', 'foo', '\ud83e');
  const text = fc.string({ unit, maxLength: 40 });
  fc.assert(
    fc.property(text, fc.nat(60), text, (document, offset, written) => {
      const line = document.slice(0, Math.min(offset, document.length)).split('\n').length - 1;
      const point = editPointAt(document, offset, line);
      const result = tidy(written, { ...contextAt('│'), point });
      if (result.kind === 'empty') return;
      const { start, end } = result.range;
      assert.equal(start.line, point.line);
      assert.equal(end.line, point.line);
      assert.equal(start.character, point.offset - point.lineStart);
      assert.ok(end.character <= point.lineEnd - point.lineStart);
      assert.notEqual(result.text.trim(), '');
      if (point.eol === '\r\n') assert.ok(!/(?<!\r)\n/.test(result.text));
    }),
    { numRuns: 1000 },
  );
});

const partialCases: [marked: string, written: string, shaped: string][] = [
  ['f() {\n  │\n}', '  ret', 'ret'],
  ['f() {\n  │\n}', '  ', ''],
  ['f() {\n│\n}', '  ret', '  ret'],
  ['f() {\r\n  │\r\n}', '  a();\n  b', 'a();\r\n  b'],
  ['f() {\n\t\t│\n}', '\ta();\n\tb', 'a();\n    b'],
  ['x = │', ' a', 'a'],
  ['│', '\n\nlet', 'let'],
];

for (const [marked, written, shaped] of partialCases) {
  test(`under way, ${JSON.stringify(marked)} with ${JSON.stringify(written)}`, () => {
    assert.equal(shapePartial(written, contextAt(marked)), shaped);
  });
}

test('of a text under way, what was shaped begins what is shown in the end', () => {
  for (const [marked, written] of cases) {
    const context = contextAt(marked);
    const result = tidy(written, context);
    if (result.kind === 'empty') continue;
    const partial = shapePartial(written, context);
    assert.ok(partial.startsWith(result.text) || result.text.startsWith(partial), JSON.stringify(partial));
  }
});
