import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFolder } from '../../../engine/benchmark/material.ts';
import { SimilarDocuments } from '../../../engine/benchmark/similarDocuments.ts';
import { seededRandom } from '../../../engine/seededRandom.ts';
import { documentId } from '../../../engine/workspace/documentId.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

test('what other files define is found, but not in the document that is being completed', async () => {
  const folder = temporaryFolder({
    'src/berth.ts': 'export function reserveBerth(pier: string) {\n  return pier.trim();\n}\n',
    'src/boat.ts': 'export function launchBoat(name: string) {\n  return name;\n}\n',
  });
  const { documents } = await readFolder(folder, seededRandom(1), new AbortController().signal);
  const similar = new SimilarDocuments();
  for (const document of documents) similar.add(document);
  const found = async () => {
    const { pieces, rarity } = await similar.find('const b = reserveBerth(');
    assert.ok(rarity.size > 0);
    return pieces.map(({ path }) => path);
  };
  assert.equal((await found())[0], 'src/berth.ts');
  const id = documentId(documents[0].uri);
  similar.holdOut(id);
  assert.ok(!(await found()).includes('src/berth.ts'));
  similar.restore(id);
  assert.equal((await found())[0], 'src/berth.ts');
});
