import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { WorkerClient } from '../../../engine/workspace/workerClient.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const modelDir = fileURLToPath(new URL('../../../engine/models/tiny-coder', import.meta.url));

test('calls under way and later ones are rejected once it is stopped', async () => {
  const worker = new WorkerClient({ modelDir, cacheDir: temporaryFolder() });
  const call = () => worker.call({ kind: 'tokenizeText', text: 'a = 1' });
  assert.ok((await call()).length > 0);
  const underWay = assert.rejects(call(), { code: 'internal', message: /stopped/ });
  await worker.dispose();
  await underWay;
  await assert.rejects(call(), { code: 'internal', message: /stopped/ });
});

test('a fault in one call is its own; the next one is answered', async (t) => {
  const folder = temporaryFolder({ ngrams: '' });
  const worker = new WorkerClient({ modelDir, cacheDir: folder });
  t.after(() => worker.dispose());
  const files = { paths: '', numbers: new Float64Array(0) };
  const save = worker.call({ kind: 'save', folder, snapshot: { files, tokens: new Uint16Array(0) } });
  await assert.rejects(save, { code: 'internal', message: /could not be saved/ });
  assert.ok((await worker.call({ kind: 'tokenizeText', text: 'b' })).length > 0);
  assert.equal(await worker.call({ kind: 'tokenizeFile', path: `${folder}/gone` }), undefined);
});
