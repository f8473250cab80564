import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Eagle3Head } from '../../../../engine/compile/heads/head.ts';
import { openHead } from '../../../../engine/compile/heads/openHead.ts';
import { eagle3Folder, type HeadWeight, headTarget, writeHead } from '../../../headFolder.ts';
import { temporaryFolder } from '../../../temporaryFolder.ts';

const folder = temporaryFolder();
const VOCABULARY = headTarget.vocabSize;
let written = 0;

function open(draftSize: number, maps: Record<string, HeadWeight>): Promise<Eagle3Head> {
  const { d2t: _d2t, t2d: _t2d, ...weights } = eagle3Folder.weights;
  const dir = writeHead(join(folder, `${written++}`), {
    config: { ...eagle3Folder.config, draft_vocab_size: draftSize },
    weights: { ...weights, 'lm_head.weight': [draftSize, 16], ...maps },
  });
  return openHead(dir, headTarget) as Promise<Eagle3Head>;
}

const offsetsOf = (ids: readonly number[]) => BigInt64Array.from(ids, (id, draft) => BigInt(id - draft));
const maskOf = (ids: readonly number[]) => Array.from({ length: VOCABULARY }, (_, id) => ids.includes(id));
const subset = fc
  .subarray(
    Array.from({ length: VOCABULARY }, (_, id) => id),
    { minLength: 1, maxLength: VOCABULARY - 1 },
  )
  .map((ids) => [...ids]);

test('draft tokens are the marked tokens of the target, in order', async () => {
  await fc.assert(
    fc.asyncProperty(subset, fc.boolean(), async (ids, withMask) => {
      const mask = withMask ? { t2d: maskOf(ids) } : undefined;
      const head = await open(ids.length, { d2t: offsetsOf(ids), ...mask });
      assert.deepEqual([...head.targetIds!], ids);
    }),
    { numRuns: 40 },
  );
});

test('a map that is out of range, out of order or not the mask is refused', async () => {
  const shifted = fc.record({ ids: subset, at: fc.nat(), by: fc.integer({ min: -60, max: 60 }) });
  await fc.assert(
    fc.asyncProperty(shifted, async ({ ids, at, by }) => {
      fc.pre(by !== 0);
      const changed = ids.with(at % ids.length, ids[at % ids.length] + by);
      const words = /which is no token of a vocabulary of 50|out of order|name different draft tokens/;
      await assert.rejects(open(ids.length, { d2t: offsetsOf(changed), t2d: maskOf(ids) }), {
        code: 'model.corrupt',
        message: words,
      });
    }),
    { numRuns: 40 },
  );
});

test('the whole vocabulary as draft vocabulary is no map', async () => {
  const all = Array.from({ length: VOCABULARY }, (_, id) => id);
  const head = await open(VOCABULARY, { d2t: offsetsOf(all), t2d: maskOf(all) });
  assert.equal(head.targetIds, undefined);
  assert.equal(head.draftVocabSize, VOCABULARY);
});

test('a map that is missing or of another size or type is refused', async () => {
  const ids = [1, 4, 9];
  const refused = (maps: Record<string, HeadWeight>, code: string, message: RegExp) =>
    assert.rejects(open(3, maps), { code, message });
  await refused({}, 'model.corrupt', /lacks the tensor d2t: what its 3 draft tokens are/);
  await refused(
    { d2t: offsetsOf([1, 4]) },
    'model.corrupt',
    /d2t of shape \[2\] where config\.json needs \[3\]/,
  );
  await refused({ d2t: [3] }, 'model.unsupported', /d2t as F32; it should be I64/);
  const d2t = offsetsOf(ids);
  await refused({ d2t, t2d: [VOCABULARY] }, 'model.unsupported', /t2d as F32; it should be BOOL/);
  await refused({ d2t, t2d: [true] }, 'model.corrupt', /t2d of shape \[1\]/);
  await refused({ d2t: BigInt64Array.of(0n, 2n ** 62n, 0n) }, 'model.corrupt', /maps draft token 1 to/);
});
