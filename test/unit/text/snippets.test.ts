import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ContextDocument,
  defaultSnippetOptions,
  SnippetChooser,
  type SnippetRequest,
} from '../../../engine/text/snippets.ts';
import { leastMs } from '../../leastMs.ts';
import { tinyCoder } from './tinyCoder.ts';

const tab = (name: string, text: string, version = 1): ContextDocument => ({
  id: `file:///${name}`,
  version,
  path: name,
  text,
});

const filler = Array.from({ length: 200 }, (_, i) => `filler${i}(other${i});`).join('\n');
const invoices = 'function totalOf(invoice) {\n  return invoice.lines.reduce(addAmount, zeroAmount);\n}';
const sockets = 'function openSocket(host) {\n  return connect(host, defaultPort);\n}';

const request = (documents: ContextDocument[], more: Partial<SnippetRequest> = {}): SnippetRequest => ({
  near: 'const total = invoice.lines.reduce(addAmount, zeroAmount);\nconst invoice = ',
  documents,
  pieces: [],
  rarity: () => 1,
  maxTokens: 500,
  count: (text) => tinyCoder.encode(text).length,
  previous: [],
  ...more,
});

test('the window most alike is found in a long document, with whole lines', () => {
  const long = tab('long.ts', `${filler}\n${invoices}\n${filler}`);
  const [first] = new SnippetChooser().choose(request([long, tab('s.ts', sockets)]));
  assert.equal(first.id, long.id);
  assert.match(first.text, /totalOf\(invoice\)/);
  assert.ok(long.text.includes(first.text));
  assert.equal(long.text.split('\n')[first.firstLine], first.text.split('\n')[0]);
  assert.ok(first.text.split('\n').length <= defaultSnippetOptions.windowLines);
});

test('what is not alike is left out', () => {
  assert.deepEqual(new SnippetChooser().choose(request([tab('s.ts', sockets)])), []);
  assert.deepEqual(new SnippetChooser().choose(request([tab('empty', '')])), []);
  assert.deepEqual(new SnippetChooser().choose(request([tab('a.ts', invoices)], { near: '' })), []);
});

test('snippets stay within the token budget', () => {
  const tabs = Array.from({ length: 6 }, (_, i) => tab(`${i}.ts`, `// ${i}\n${invoices}`));
  const cost = tinyCoder.encode(`0.ts\n${tabs[0].text}\n`).length + 1;
  const chosen = new SnippetChooser().choose(request(tabs, { maxTokens: cost * 2 }));
  assert.equal(chosen.length, 2);
});

test('what was chosen before keeps its place', () => {
  const a = tab('a.ts', invoices);
  const b = tab('b.ts', `${invoices}\nconst more = invoice.lines;`);
  const chooser = new SnippetChooser();
  const first = chooser.choose(request([a]));
  const second = chooser.choose(request([b, a], { previous: first }));
  assert.deepEqual(
    second.map(({ path }) => path),
    ['a.ts', 'b.ts'],
  );
  const third = chooser.choose(
    request([a, b], { previous: second, near: 'const more = invoice.lines; totalOf' }),
  );
  assert.deepEqual(third, second);
});

test('a new version of a document is read again', () => {
  const chooser = new SnippetChooser();
  chooser.choose(request([tab('a.ts', sockets)]));
  const [snippet] = chooser.choose(request([tab('a.ts', invoices, 2)]));
  assert.equal(snippet.text, invoices);
});

test('documents that do not fit into the time are left for later', () => {
  let nowMs = 0;
  const chooser = new SnippetChooser(defaultSnippetOptions, () => (nowMs += 6));
  const tabs = [tab('a.ts', invoices), tab('b.ts', invoices), tab('c.ts', invoices)];
  assert.equal(chooser.choose(request(tabs)).length, 1);
  assert.equal(chooser.choose(request(tabs)).length, 2);
});

test('a line of megabytes is data and not read', () => {
  const data = tab('data.json', `["${'invoice '.repeat(500_000)}"]`);
  const choose = () => assert.deepEqual(new SnippetChooser().choose(request([data])), []);
  assert.ok(leastMs(choose) < 500);
});

test('snippets have line feeds, whatever the tab has', () => {
  const [snippet] = new SnippetChooser().choose(request([tab('a.ts', invoices.replaceAll('\n', '\r\n'))]));
  assert.equal(snippet.text, invoices);
});
