import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { DocumentSyntax } from '../../../engine/syntax/documentSyntax.ts';
import { type AskSyntax, OpenSyntaxes } from '../../../engine/syntax/openSyntaxes.ts';
import { loadSyntax } from '../../../engine/syntax/syntax.ts';

const document = (uri: string, text: string) => TextDocument.create(uri, 'plaintext', 1, text);

// From now on a grammar is there as soon as the loop turns.
await Promise.all([loadSyntax('json'), loadSyntax('python')]);

test('those who do not wait get nothing before the grammar is there', async () => {
  const ask = new OpenSyntaxes(assert.fail).read(document('file:///a.py', 'a = 1\n'));
  assert.equal(ask(), undefined);
  await setImmediate();
  assert.equal(ask()?.isWhole('a = (1\n'), false);
});

test('a document is read at once and parsed when it is first asked about, and only then', async (context) => {
  const update = context.mock.method(DocumentSyntax.prototype, 'update');
  const syntaxes = new OpenSyntaxes(assert.fail);
  const read = document('file:///a.py', 'a = 1\n');
  const ask = syntaxes.read(read);
  TextDocument.update(read, [{ text: 'a = (1\n' }], 2);
  await setImmediate();
  assert.equal(update.mock.callCount(), 0);
  assert.equal(ask()?.isWhole('a = (1\n'), false);
  assert.equal(ask()?.isWhole('a = 1\n'), true);
  assert.deepEqual(
    update.mock.calls.map((call) => call.arguments),
    [['a = 1\n']],
  );
});

test('a prepared document is parsed already', async (context) => {
  const update = context.mock.method(DocumentSyntax.prototype, 'update');
  await new OpenSyntaxes(assert.fail).prepare(document('file:///a.py', 'a = 1\n'));
  assert.equal(update.mock.callCount(), 1);
});

test('a language without a grammar has no syntax, and that is no fault', async () => {
  const syntaxes = new OpenSyntaxes(assert.fail);
  const text = document('file:///README.md', '# A\n');
  await syntaxes.prepare(text);
  assert.equal(syntaxes.read(text)(), undefined);
});

/** Without a tree of its document, nothing is told any more. */
const isKept = (ask: AskSyntax) => ask()?.isWhole('[1]') !== undefined;

test('the trees of the documents used last are kept, until they are forgotten', async () => {
  const syntaxes = new OpenSyntaxes(assert.fail);
  const uris = Array.from({ length: 10 }, (_, i) => `file:///${i}.json`);
  const asks = uris.map((uri) => syntaxes.read(document(uri, '[]')));
  await setImmediate();
  assert.ok(asks.every(isKept), 'each when it is the last one');
  const kept = uris.map((_, i) => i >= 2);
  assert.deepEqual(asks.map(isKept), kept);
  syntaxes.forget(uris[5]);
  kept[5] = false;
  assert.deepEqual(asks.map(isKept), kept);
  syntaxes.dispose();
  assert.ok(!asks.some(isKept));
});

test('a document that has another language by now is asked about in that one', async () => {
  const syntaxes = new OpenSyntaxes(assert.fail);
  const uri = 'untitled:Untitled-1';
  await syntaxes.prepare(TextDocument.create(uri, 'javascript', 1, 'let a;\n'));
  const text = 'def f(a):\n    return a\n';
  const ask = syntaxes.read(TextDocument.create(uri, 'python', 2, text));
  await setImmediate();
  assert.equal(ask()?.isWhole(`${text}b = 1\n`), true);
  syntaxes.dispose();
});
