import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageOf, languageOfPath } from '../../../engine/syntax/language.ts';

test("the editor's identifier says what a document is written in", () => {
  assert.equal(languageOf('typescriptreact', '/a/b.ts'), 'tsx');
  assert.equal(languageOf('shellscript', '/a/configure'), 'bash');
  assert.equal(languageOf('jsonc', 'untitled:Untitled-1'), 'json');
});

test('an identifier that says nothing leaves it to the name', () => {
  assert.equal(languageOf('plaintext', '/a/b.py'), 'python');
  assert.equal(languageOf('ts', 'file:///a/b.MTS'), 'typescript');
});

test('a language without a grammar has none', () => {
  assert.equal(languageOf('markdown', '/a/README.md'), undefined);
  assert.equal(languageOf('constructor', '/a/b.constructor'), undefined);
  assert.equal(languageOfPath('/a.js/Makefile'), undefined);
});
