import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { editPointAt, lineAfter, lineBefore, lineGiven } from '../../../engine/text/editPoint.ts';
import { pointAt } from './cursorMark.ts';

test('the line around the cursor', () => {
  const lines: [marked: string, before: string, after: string][] = [
    ['│', '', ''],
    ['│\n', '', ''],
    ['\n│', '', ''],
    ['a│b', 'a', 'b'],
    ['x\n  a│b\ny', '  a', 'b'],
    ['x\r\n  a│b\r\ny', '  a', 'b'],
    ['x\r\n│\r\ny', '', ''],
    ['a│\r\n', 'a', ''],
  ];
  for (const [marked, before, after] of lines) {
    const point = pointAt(marked);
    assert.equal(lineBefore(point), before, marked);
    assert.equal(lineAfter(point), after, marked);
  }
});

test('the line break is the one of the document', () => {
  assert.equal(pointAt('a│').eol, '\n');
  assert.equal(pointAt('a│\nb').eol, '\n');
  assert.equal(pointAt('a│\r\nb').eol, '\r\n');
});

test('a cursor inside a surrogate pair or a CRLF moves before it', () => {
  assert.equal(editPointAt('a🦙b', 2, 0).offset, 1);
  assert.equal(editPointAt('a\r\nb', 2, 0).offset, 1);
  assert.equal(editPointAt('a🦙b', 3, 0).offset, 3);
});

test('the model goes on before the indentation of a line that is blank so far', () => {
  const given: [marked: string, given: string][] = [
    ['x = │', 'x = '],
    ['x =│', 'x ='],
    ['a\n \t│b', ''],
    ['a\n│', ''],
    [`${' '.repeat(300)}│`, ' '.repeat(300)],
  ];
  for (const [marked, line] of given) assert.equal(lineGiven(pointAt(marked)), line, marked);
});

test('an offset outside the document is moved into it', () => {
  assert.equal(editPointAt('ab', 99, 0).offset, 2);
  assert.equal(editPointAt('ab', -1, 0).offset, 0);
});

test("the line's parts are always the line", () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\n', '\r\n', '🦙', ' ') });
  fc.assert(
    fc.property(text, fc.nat(40), (document, offset) => {
      const line = document.slice(0, offset).split('\n').length - 1;
      const point = editPointAt(document, offset, line);
      assert.equal(
        lineBefore(point) + lineAfter(point),
        document.split(/\r?\n/)[point.text.slice(0, point.offset).split('\n').length - 1],
      );
    }),
  );
});

const range = (line: number, from: number, to: number) => ({
  start: { line, character: from },
  end: { line, character: to },
});

test('the selected item is applied to the document', () => {
  const point = editPointAt('x\nlog.wa(1)', 8, 1, { range: range(1, 4, 6), text: 'warning' });
  assert.equal(point.text, 'x\nlog.warning(1)');
  assert.equal(lineBefore(point), 'log.warning');
  assert.equal(lineAfter(point), '(1)');
  assert.deepEqual(point.selected, { text: 'warning', startCharacter: 4, endCharacter: 6 });
});

test('a selected item that is not of this line is ignored', () => {
  for (const odd of [range(0, 0, 1), range(1, 4, 99), range(1, 6, 4)]) {
    assert.equal(editPointAt('x\nlog.wa', 8, 1, { range: odd, text: 'y' }).selected, undefined);
  }
  assert.equal(editPointAt('x\nlog.wa', 8, 1, { range: range(1, 4, 6), text: 'a\nb' }).selected, undefined);
});
