import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Language } from '../../../../engine/syntax/language.ts';
import { loadSyntax } from '../../../../engine/syntax/syntax.ts';
import { cutBrokenSyntax } from '../../../../engine/text/tidy/brokenSyntax.ts';
import { acceptedAt, filterAt } from './tidyAt.ts';

const syntaxes = {
  typescript: await loadSyntax('typescript'),
  python: await loadSyntax('python'),
  go: await loadSyntax('go'),
} satisfies Partial<Record<Language, unknown>>;

function probeOf(marked: string, language: keyof typeof syntaxes) {
  const document = syntaxes[language].open();
  document.update(marked.replace('│', ''));
  return document.probe();
}

function cut(marked: string, text: string, language: keyof typeof syntaxes = 'typescript'): string {
  return filterAt(cutBrokenSyntax, marked, text, { syntax: probeOf(marked, language) });
}

test('a closer too many is cut off', () => {
  assert.equal(cut('f(│);\n', 'a, b))'), 'a, b)');
  assert.equal(cut('function f() {\n  │\n}\n', 'g(a));'), 'g(a)');
  assert.equal(cut('package a\n\nfunc f() {\n\t│\n}\n', 'g(a))', 'go'), 'g(a)');
});

test('closers that replace those after the cursor are none too many', () => {
  assert.equal(cut('f(│);\n', 'a, b);'), 'a, b);');
  assert.equal(cut('f(│)\n', 'a, (b))'), 'a, (b))');
});

test('a block ends before the line that does not belong to it', () => {
  assert.equal(cut('function f() {\n  │\n}\n', 'a();\n  b();\n}\n}'), 'a();\n  b();');
  assert.equal(cut('if (a) {\n  │\n}\n', 'b();\n  for (const c of d) {\n    e();'), 'b();');
  assert.equal(
    cut('def f():\n    │\n\n\ng()\n', 'a = (1,\n         2)\n    b = [', 'python'),
    'a = (1,\n         2)',
  );
});

test('a string that is left open is cut off', () => {
  assert.equal(cut('const a = │\nf();\n', "b + 'text"), 'b');
  assert.equal(cut('f(│);\n', 'a, `text'), 'a');
  assert.equal(cut('x = │\n', 'f("a") + "b', 'python'), 'f("a")');
});

test('what would be left of it says nothing', () => {
  assert.equal(cut('const a = │;\n', '} else {'), '');
  assert.equal(cut('f(│);\n', '=> {'), '');
});

test('the line that opens a block with its end below is kept whole', () => {
  assert.equal(cut('│\n  a();\n}\n', 'if (b) {'), 'if (b) {');
  assert.equal(cut('test("a", │\n  b();\n});\n', '() => {'), '() => {');
  assert.equal(cut('class A {\n  │\n    return 1;\n  }\n}\n', 'get b() {'), 'get b() {');
});

test('a line that does not open it is none', () => {
  assert.equal(cut('function f() {\n  │\n    a();\n  }\n}\n', 'b();'), '');
});

test('a document that nothing here makes whole says nothing', () => {
  assert.equal(cut('function f( {\n}}\nf(│);\n', 'a)'), 'a)');
  assert.equal(cut('@implementation A\nf(│);\n', 'a)'), 'a)');
});

test('without a grammar nothing is cut', () => {
  assert.equal(filterAt(cutBrokenSyntax, 'f(│);\n', 'a)'), 'a)');
});

test('a document too large to ask much about is left alone', () => {
  const marked = `${'f(a, { b: [c] });\n'.repeat(40_000)}f(│);\n`;
  assert.equal(cut(marked, 'a)'), 'a)');
});

test('in the pipeline: the document is whole once the suggestion is accepted', () => {
  const marked = 'export function f(a: number) {\n  return g(│);\n}\n';
  const syntax = probeOf(marked, 'typescript');
  assert.equal(
    acceptedAt(marked, 'a, b));\n}', { syntax }),
    'export function f(a: number) {\n  return g(a, b)│;\n}\n',
  );
  assert.equal(
    acceptedAt('const a = │;\n', '} else {', { syntax: probeOf('const a = │;\n', 'typescript') }),
    '(breaks the syntax)',
  );
});

test('what stands in a whole document is never cut, wherever it is asked for', () => {
  const whole = [
    "import { a } from 'b';",
    'export class C<T> {',
    '  #d = new Map<string, T>();',
    '  get(e: string): T | undefined {',
    '    if (!this.#d.has(e)) {',
    "      throw new Error('not there: ' + e + `('a')`);",
    '    }',
    '    return this.#d.get(e) ?? undefined;',
    '  }',
    '}',
    'const f = [1, 2].map((g) => ({ h: g }));',
    '',
  ].join('\n');
  fc.assert(
    fc.property(fc.nat(whole.length), fc.nat(whole.length), (one, other) => {
      const [start, end] = [Math.min(one, other), Math.max(one, other)];
      const marked = `${whole.slice(0, start)}│${whole.slice(end)}`;
      const real = whole.slice(start, end);
      assert.equal(cut(marked, real), real);
    }),
  );
});

test('what is left of any text leaves a whole document whole', () => {
  const marked = 'function f(a) {\n  │\n  return a;\n}\n';
  const pieces = fc.constantFrom('a', '(', ')', '{', '}', ';', '\n', ' ', "'", '=>', 'if', 'b.c', ',');
  fc.assert(
    fc.property(fc.array(pieces, { minLength: 1, maxLength: 12 }), (some) => {
      const text = some.join('');
      if (text.trim() === '') return;
      const left = cut(marked, text);
      const after = marked.replace('│', left);
      assert.ok(text.startsWith(left));
      assert.equal(
        syntaxes.typescript.parse(after, (tree) => tree.countProblems()),
        0,
        after,
      );
    }),
  );
});
