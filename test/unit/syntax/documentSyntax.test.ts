import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Parser } from 'web-tree-sitter';
import { loadSyntax } from '../../../engine/syntax/syntax.ts';

const syntax = await loadSyntax('typescript');
const isWhole = (text: string) => syntax.parse(text, (tree) => tree.countProblems() === 0);

test('a version parsed from the one before is judged as if it were parsed alone', () => {
  const pieces = fc.constantFrom(
    'a',
    '(',
    ')',
    '{',
    '}',
    '`',
    '${',
    '"',
    '\n',
    ';',
    '/*',
    '*/',
    '=>',
    '👩‍👩',
    'é',
  );
  const texts = fc.array(fc.array(pieces, { maxLength: 12 }), { minLength: 2, maxLength: 8 });
  fc.assert(
    fc.property(texts, (versions) => {
      const document = syntax.open();
      document.update('');
      for (const version of versions.map((some) => some.join(''))) {
        assert.equal(document.probe().isWhole(version), isWhole(version), version);
      }
      document.dispose();
    }),
  );
});

test('a document that is not known yet cannot be asked about', () => {
  const document = syntax.open();
  assert.equal(document.probe().isWhole('a;'), undefined);
  document.update('a;');
  assert.equal(document.probe().isWhole('a;'), true);
  document.dispose();
  assert.equal(document.probe().isWhole('a;'), undefined);
});

test('a probe answers until it has worked enough; the next one goes on', () => {
  const document = syntax.open();
  const text = 'f(a, { b: [c] });\n'.repeat(500);
  document.update(text);
  const probe = document.probe();
  const answers = Array.from({ length: 200 }, (_, i) => probe.isWhole(`${text}f(${'('.repeat(i)}`));
  const given = answers.indexOf(undefined);
  assert.ok(given > 1, `${given}`);
  assert.ok(answers.slice(given).every((answer) => answer === undefined));
  assert.equal(document.probe().isWhole(`${text}g();`), true);
  document.dispose();
});

test('a text that was too much work is not parsed again before it is clearly shorter', (context) => {
  const document = syntax.open();
  const line = 'f(a, { b: [c] });\n';
  const huge = line.repeat(60_000);
  document.update(huge);
  assert.equal(document.probe().isWhole(huge), undefined);
  const parse = context.mock.method(Parser.prototype, 'parse');
  for (let i = 0; i < 20; i++) document.update(huge + 'g();\n'.repeat(i));
  assert.equal(parse.mock.callCount(), 0);
  document.update(line.repeat(10));
  assert.equal(document.probe().isWhole(line.repeat(11)), true);
  document.dispose();
});

test('a text that a grammar reads to its end in every step holds nobody up for long', async () => {
  const javascript = await loadSyntax('javascript');
  const text = '/* abc\n'.repeat(4000);
  const document = javascript.open();
  const started = performance.now();
  document.update(text);
  assert.ok(performance.now() - started < 3000, 'over before the steps are: they take four times as long');
  assert.equal(document.probe().isWhole(text), undefined);
  document.update('a;');
  assert.equal(document.probe().isWhole('a;'), true, 'a shorter text is parsed again');
  document.dispose();
});
