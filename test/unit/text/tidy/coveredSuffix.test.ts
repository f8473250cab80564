import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coveredSuffix } from '../../../../engine/text/tidy/coveredSuffix.ts';
import { pointAt } from '../cursorMark.ts';

const cases: [marked: string, text: string, covered: string][] = [
  ['foo(│)', 'a, b)', ')'],
  ['foo(│)', 'a, b);', ')'],
  ['foo(│);', 'a, b);', ');'],
  ['foo(│);', 'a, b)', ')'],
  ['foo(│)', 'a, b', ''],
  ['foo(│)', 'bar(1)', ''],
  ['foo(│)', 'bar(1))', ')'],
  ['foo(│)', '")"', ''],
  ['foo([│])', '1])', '])'],
  ['foo("│")', 'a")', '")'],
  ['foo("│")', 'a(b', ''],
  ['foo("│")', 'a\\"b', ''],
  ['x = {│}', '\n  a: 1,\n}', '}'],
  ['x = {│}', '\n  a: f(1),\n', ''],
  ['f(│, b);', 'a, b);', ', b);'],
  ['f(│, b);', 'a', ''],
  ['f(│) + 1', 'a)', ')'],
  ['f(│) + 1', 'a) + 1;', ') + 1'],
  ['x = │a + b', 'data + b', ''],
  ['x = │a + b', 'c', ''],
  ['x│', 'a)', ''],
  ['f(│  )  ', 'a)', '  )'],
  ['if (│) {', 'a) {', ') {'],
  ["it's [│]", "it's]", ''],
];

for (const [marked, text, covered] of cases) {
  test(`${marked} with ${JSON.stringify(text)} replaces ${JSON.stringify(covered)}`, () => {
    const point = pointAt(marked);
    const end = point.offset + coveredSuffix(text, point);
    assert.equal(point.text.slice(point.offset, end), covered);
  });
}
