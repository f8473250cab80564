import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { OpenSyntaxes } from '../../../engine/syntax/openSyntaxes.ts';

const document = (uri: string, text: string) => TextDocument.create(uri, 'plaintext', 1, text);

test('a document can be asked about once it is prepared, and no more once it is forgotten', async () => {
  const syntaxes = new OpenSyntaxes(assert.fail);
  assert.equal(syntaxes.probe('file:///a.py'), undefined);
  const preparing = syntaxes.prepare(document('file:///a.py', 'a = 1\n'));
  assert.equal(syntaxes.probe('file:///a.py'), undefined);
  await preparing;
  assert.equal(syntaxes.probe('file:///a.py')?.isWhole('a = (1\n'), false);
  syntaxes.forget('file:///a.py');
  assert.equal(syntaxes.probe('file:///a.py'), undefined);
});

test('a language without a grammar has no syntax, and that is no fault', async () => {
  const syntaxes = new OpenSyntaxes(assert.fail);
  await syntaxes.prepare(document('file:///README.md', '# A\n'));
  assert.equal(syntaxes.probe('file:///README.md'), undefined);
});

test('the documents used last are kept', async () => {
  const syntaxes = new OpenSyntaxes(assert.fail);
  const uris = Array.from({ length: 10 }, (_, i) => `file:///${i}.json`);
  for (const uri of uris) await syntaxes.prepare(document(uri, '[]'));
  assert.deepEqual(
    uris.map((uri) => syntaxes.probe(uri) !== undefined),
    uris.map((_, i) => i >= 2),
  );
  syntaxes.dispose();
  assert.ok(uris.every((uri) => syntaxes.probe(uri) === undefined));
});

test('a document that has another language by now is asked about in that one', async () => {
  const syntaxes = new OpenSyntaxes(assert.fail);
  const uri = 'untitled:Untitled-1';
  await syntaxes.prepare(TextDocument.create(uri, 'javascript', 1, 'let a;\n'));
  const text = 'def f(a):\n    return a\n';
  await syntaxes.prepare(TextDocument.create(uri, 'python', 2, text));
  assert.equal(syntaxes.probe(uri)?.isWhole(`${text}b = 1\n`), true);
  syntaxes.dispose();
});
