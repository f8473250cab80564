import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createStopRules, type TextStop } from '../../../engine/text/stopRules.ts';
import { pointAt } from './cursorMark.ts';

interface Case {
  readonly name: string;
  readonly at: string;
  readonly written: string;
  readonly kept: string;
  readonly stop: TextStop | undefined;
}

const cases: Case[] = [
  { name: 'mid-line, the line', at: 'x = │ + 1;', written: 'y\nz', kept: 'y', stop: 'line' },
  { name: 'a line under way', at: 'const x = │', written: 'f();\ng();', kept: 'f();', stop: 'line' },
  { name: 'CRLF ends a line too', at: 'const x = │', written: 'f();\r\ng();', kept: 'f();', stop: 'line' },
  { name: 'no end yet', at: 'const x = │', written: 'f(', kept: 'f(', stop: undefined },
  {
    name: 'an opened block with its closing line',
    at: 'if (a) {│',
    written: '\n  b();\n  c();\n}\nd();',
    kept: '\n  b();\n  c();\n}',
    stop: 'block',
  },
  {
    name: 'an opened block goes on after else',
    at: 'if (a) {│',
    written: '\n  b();\n} else {\n  c();\n}\nd();\n',
    kept: '\n  b();\n} else {\n  c();\n}',
    stop: 'block',
  },
  {
    name: 'an opened block whose closing line is there already',
    at: 'if (a) {│\n}',
    written: '\n  b();\n}\nd();',
    kept: '\n  b();',
    stop: 'suffix',
  },
  {
    name: 'a block by indentation',
    at: 'def f(a):│',
    written: '\n    if a:\n        return 1\n\n    return 2\n\ndef g():\n    pass\n',
    kept: '\n    if a:\n        return 1\n\n    return 2',
    stop: 'block',
  },
  {
    name: 'a block by indentation goes on after except',
    at: '    try:│',
    written: '\n        a()\n    except E:\n        b()\n    c()\n',
    kept: '\n        a()\n    except E:\n        b()',
    stop: 'block',
  },
  {
    name: 'a block with end',
    at: 'def f(a) do│',
    written: '\n  a\nend\nf',
    kept: '\n  a\nend',
    stop: 'block',
  },
  {
    name: 'a block whose brace has a line of its own',
    at: 'if (a)\n{\n    b();\n}\nelse│',
    written: '\n{\n    c();\n}\nd();\n',
    kept: '\n{\n    c();\n}',
    stop: 'block',
  },
  {
    name: 'a list as deep as what it belongs to',
    at: 'spec:\n  containers:│',
    written: '\n  - name: a\n    image: b\n',
    kept: '\n  - name: a',
    stop: 'block',
  },
  {
    name: 'a class that begins with a section',
    at: 'class A {│',
    written: '\npublic:\n    A();\n};\nint b;\n',
    kept: '\npublic:\n    A();\n};',
    stop: 'block',
  },
  {
    name: 'what follows a block that nothing was written in',
    at: 'else│',
    written: '\nd();\n',
    kept: '',
    stop: 'block',
  },
  {
    name: 'an empty body that is one expression',
    at: 'xs.map((x) =>│)',
    written: ' x + 1);\nnext();',
    kept: ' x + 1);',
    stop: 'block',
  },
  {
    name: 'statements up to the end of their block',
    at: 'function f() {\n  │',
    written: '  a();\n  b();\n}\nc();',
    kept: '  a();\n  b();',
    stop: 'block',
  },
  {
    name: 'statements up to a blank line',
    at: 'function f() {\n  │',
    written: '  a();\n  b();\n\n  c();\n',
    kept: '  a();\n  b();',
    stop: 'block',
  },
  {
    name: 'a blank line inside an inner block is no end',
    at: '  │',
    written: '  if (a) {\n    b();\n\n    c();\n  }\n\n  d();\n',
    kept: '  if (a) {\n    b();\n\n    c();\n  }',
    stop: 'block',
  },
  {
    name: 'statements that the model indents itself',
    at: 'def f():\n│',
    written: '    a()\n    b()\nc()\n',
    kept: '    a()\n    b()',
    stop: 'block',
  },
  {
    name: 'a whole function on an empty line',
    at: '│',
    written: 'def f():\n    a()\n\ndef g():\n',
    kept: 'def f():\n    a()',
    stop: 'block',
  },
  {
    name: 'statements that run into what follows',
    at: '  │\n\n  c();\n',
    written: '  a();\n  b();\n  c();\n  d();',
    kept: '  a();\n  b();',
    stop: 'suffix',
  },
  {
    name: 'one line where the block goes on right below',
    at: '  │\n  c();\n',
    written: '  a();\n  b();\n  c();\n',
    kept: '  a();',
    stop: 'line',
  },
  {
    name: 'one line, though an empty one comes before it',
    at: '  │\n  c();\n',
    written: '\n  a();\n  b();\n',
    kept: '\n  a();',
    stop: 'line',
  },
  {
    name: 'no line where the model leaves the block at once',
    at: '  if (a) {\n    │\n    b();\n  }\n',
    written: '  }\n  c();\n',
    kept: '',
    stop: 'block',
  },
  {
    name: 'nothing where the model leaves the block at once',
    at: '  if (a) {\n    b();\n    │',
    written: '  }\n  c();\n',
    kept: '',
    stop: 'block',
  },
  {
    name: 'statements that the model indents further than typed',
    at: 'def f():\n  │',
    written: '    a()\n    b()\n\n    c()\n',
    kept: '    a()\n    b()',
    stop: 'block',
  },
  {
    name: 'statements that the model indents less than typed',
    at: '  if (a) {\n    │',
    written: '  b();\n  c();\n}\n',
    kept: '  b();\n  c();',
    stop: 'block',
  },
  {
    name: 'nothing where the next line is repeated at once',
    at: '  │\n  b();\n',
    written: '  b();\n  c();\n',
    kept: '',
    stop: 'suffix',
  },
  {
    name: 'tabs and spaces are compared by width',
    at: '\tif (a) {│',
    written: '\n        b();\n    }\n    c();\n',
    kept: '\n        b();\n    }',
    stop: 'block',
  },
];

function watch(at: string, deltas: Iterable<string>) {
  const rules = createStopRules(pointAt(at), 4);
  for (const delta of deltas) {
    const stop = rules.push(delta);
    if (stop !== undefined) return { stop, text: rules.text };
  }
  return { stop: undefined, text: rules.text };
}

for (const { name, at, written, kept, stop } of cases) {
  test(`${name}, written at once`, () => {
    assert.deepEqual(watch(at, [written]), { stop, text: kept });
  });
  test(`${name}, written a character at a time`, () => {
    assert.deepEqual(watch(at, written), { stop, text: kept });
  });
}

test('a block ends as soon as the first word outside is known', () => {
  const rules = createStopRules(pointAt('def f():│'), 4);
  for (const delta of ['\n    a()\n', 'def']) assert.equal(rules.push(delta), undefined);
  assert.equal(rules.push(' '), 'block');
  assert.equal(rules.text, '\n    a()');
});

test('the cuts do not depend on how the text arrives', () => {
  const line = fc.constantFrom(
    '',
    '  ',
    'a();',
    '  b();',
    '    c();',
    '}',
    '  }',
    '} else {',
    'else:',
    'end',
    '\t',
  );
  const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n'));
  const at = fc.constantFrom('│', '  │\n  b();', 'f() {│', 'f() {│}\n', '  if a:│\n  b();', 'x = │', 'a│b');
  fc.assert(
    fc.property(
      at,
      text,
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      (place, written, sizes) => {
        const deltas: string[] = [];
        for (let i = 0, k = 0; i < written.length; k++) {
          const size = sizes[k % sizes.length];
          deltas.push(written.slice(i, i + size));
          i += size;
        }
        const streamed = watch(place, deltas);
        const atOnce = watch(place, [written]);
        assert.ok(written.startsWith(streamed.text));
        if (streamed.stop !== undefined) assert.deepEqual(streamed, atOnce);
      },
    ),
    { numRuns: 1000 },
  );
});
