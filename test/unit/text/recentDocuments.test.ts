import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { RecentDocuments } from '../../../engine/text/recentDocuments.ts';

const [a, b, c] = ['a', 'b', 'c'].map((name) => TextDocument.create(`file:///${name}`, 'python', 1, name));

test('what was used last comes first, and only so many', () => {
  const recent = new RecentDocuments();
  for (const document of [a, b, c]) recent.use(document);
  recent.use(a);
  assert.deepEqual(recent.mostRecent([a, b, c], 2), [a, c]);
  recent.close(c.uri);
  assert.deepEqual([...recent], [b, a]);
});
