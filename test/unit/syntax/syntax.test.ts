import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import grammarFiles from '../../../engine/syntax/grammarFiles.json' with { type: 'json' };
import type { Language } from '../../../engine/syntax/language.ts';
import { loadSyntax } from '../../../engine/syntax/syntax.ts';

/** A whole text in each language, and the same with its end missing. */
const texts: Readonly<Record<Language, readonly [whole: string, broken: string]>> = {
  bash: ['if true; then\n  echo "$1"\nfi\n', 'if true; then\n  echo "$1\n'],
  c: ['int main(void) { return f(1); }\n', 'int main(void) { return f(1;\n'],
  cpp: ['namespace n { template <class T> T f(T t) { return t; } }\n', 'namespace n { int f( { return\n'],
  csharp: ['class A { int F() => 1; }\n', 'class A { int F( => 1; \n'],
  css: ['a:hover { color: red; }\n', 'a:hover { color: \n'],
  go: ['package a\n\nfunc f() int { return 1 }\n', 'package a\n\nfunc f( int { return 1 }\n'],
  html: ['<p class="a">text</p>\n', '<p class="a>text\n'],
  java: ['class A { int f() { return 1; } }\n', 'class A { int f() { return 1; \n'],
  javascript: ['const a = <p>{b ?? c?.d}</p>;\n', 'const a = f(b, ;\n'],
  json: ['{ "a": [1, 2] }\n', '{ "a": [1, 2 }\n'],
  php: ['<?php function f() { return 1; }\n', '<?php function f() { return 1; \n'],
  python: ['def f(a):\n    return [a]\n', 'def f(a:\n    return [a]\n'],
  ruby: ['def f(a)\n  a.map { |b| b }\nend\n', 'def f(a)\n  a.map { |b| b \n'],
  rust: ['fn f<T>(a: &T) -> Vec<u8> { vec![1] }\n', 'fn f<T>(a: &T) -> Vec<u8> { vec![1 \n'],
  tsx: ['const a = (b: string) => <A<T> b={b} />;\n', 'const a = (b: string => <A b={b} />;\n'],
  typescript: ['const a = <T,>(b: T): b is T => true;\n', 'const a = <T,>(b: T : b is T => true;\n'],
};

test('a grammar is loaded once, however many ask for it meanwhile and later', async () => {
  const [syntax, meanwhile] = await Promise.all([loadSyntax('json'), loadSyntax('json')]);
  assert.equal(meanwhile, syntax);
  assert.equal(await loadSyntax('json'), syntax);
  assert.notEqual(await loadSyntax('css'), syntax);
});

for (const language of Object.keys(grammarFiles) as Language[]) {
  test(`${language}: problems are counted, whole text has none`, async () => {
    const syntax = await loadSyntax(language);
    const [whole, broken] = texts[language];
    assert.equal(
      syntax.parse(whole, (tree) => tree.countProblems()),
      0,
    );
    assert.ok(syntax.parse(broken, (tree) => tree.countProblems()) > 0);
  });
}

test('offsets are UTF-16 units', async () => {
  const syntax = await loadSyntax('javascript');
  const text = 'const 名 = "👩‍👩‍👧"; f(名);';
  const spans = syntax.parse(text, (tree) =>
    tree.nodesOfType(['arguments']).map((node) => text.slice(node.startIndex, node.endIndex)),
  );
  assert.deepEqual(spans, ['(名)']);
});

test('any text has a tree, and the same one every time', async () => {
  const syntax = await loadSyntax('typescript');
  const pieces = fc.constantFrom(
    '{',
    '}',
    '(',
    ')',
    '`',
    '"',
    '/*',
    '//',
    '\n',
    ' a ',
    '=>',
    ';',
    '👩‍👩',
    '\ud800',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (some) => {
      const text = some.join('');
      const read = () => syntax.parse(text, (tree) => [tree.countProblems(), tree.root.endIndex]);
      const [problems, end] = read();
      assert.deepEqual(read(), [problems, end]);
      assert.ok(problems >= 0 && end <= text.length);
    }),
  );
});
