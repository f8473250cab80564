import assert from 'node:assert/strict';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { predictionsOnly } from '../../../engine/compile/targetOutputs.ts';
import { SUCCESSORS } from '../../../engine/draft/recycledSource.ts';
import type { SlipstreamError } from '../../../engine/errors.ts';
import { type Algorithm, algorithms } from '../../../engine/protocol.ts';
import { availableAlgorithms } from '../../../engine/speculation/availableAlgorithms.ts';
import { planSpeculation } from '../../../engine/speculation/speculationPlan.ts';
import { goldenDir } from '../../golden.ts';
import { eagle3Folder, type HeadFolder, medusaFolder, mimoFolder, writeHead } from '../../headFolder.ts';
import { targetOf, withTarget } from '../../headTargetFolder.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const bare = fileURLToPath(new URL('../../fixtures/golden/llama_eagle_target', import.meta.url));
const headDir = (name: string) =>
  fileURLToPath(new URL(`../../fixtures/golden/heads/${name}`, import.meta.url));

/** A copy of the model with drafters of its own. */
function modelWith(heads: Readonly<Record<string, string>>): string {
  const dir = temporaryFolder();
  cpSync(bare, dir, { recursive: true });
  for (const [name, source] of Object.entries(heads))
    cpSync(source, join(dir, 'heads', name), { recursive: true });
  return dir;
}

const plan = (algorithm: Algorithm, dir: string, draftModel?: string) =>
  planSpeculation({ algorithm, ...(draftModel && { draftModel }) }, dir);

test('what needs no training drafts for any model', async () => {
  const drafting = async (algorithm: Algorithm) => (await plan(algorithm, bare)).drafting;
  assert.deepEqual(await drafting('none'), { kind: 'none' });
  assert.deepEqual(await drafting('ngram'), { kind: 'ngram' });
  assert.deepEqual(await drafting('recycle'), { kind: 'recycling' });
  assert.deepEqual(await drafting('auto'), { kind: 'blend', trained: undefined });
});

test('steps and top-k that nothing takes are said to have no effect', async () => {
  const shaped = (dir: string) => planSpeculation({ algorithm: 'auto', numSteps: 5, eagleTopk: 4 }, dir);
  assert.match((await shaped(bare)).note ?? '', /no effect/);
  assert.equal((await plan('auto', bare)).note, undefined);
});

test('the target hands out what the drafter reads, and nothing for nobody', async () => {
  const outputs = async (algorithm: Algorithm, draftModel?: string) =>
    (await plan(algorithm, bare, draftModel)).outputs;
  assert.deepEqual(await outputs('none'), predictionsOnly);
  assert.equal((await outputs('recycle')).successors, SUCCESSORS);
  // As the reference reads them (test/fixtures/golden/README.md).
  assert.deepEqual((await outputs('eagle3', headDir('eagle3_trained'))).taps, [2, 4, 5]);
  assert.deepEqual((await outputs('eagle2', headDir('eagle1_trained'))).taps, [8]);
  const blended = await outputs('auto', headDir('medusa_trained'));
  assert.deepEqual([blended.taps, blended.successors], [[8], SUCCESSORS]);
});

async function kindOf(algorithm: Algorithm, dir: string, draftModel?: string) {
  const { drafting } = await plan(algorithm, dir, draftModel);
  return 'trained' in drafting && drafting.trained?.kind === 'head' ? drafting.trained.head.kind : undefined;
}

/** A model of random weights with drafters of its own. */
function randomModelWith(layers: number, heads: Readonly<Record<string, HeadFolder>>): string {
  const dir = writeHead(temporaryFolder(), targetOf(layers));
  for (const [name, head] of Object.entries(heads)) writeHead(join(dir, 'heads', name), head);
  return dir;
}

test("a model's own drafters are found below heads; AUTO takes the first of them", async () => {
  const dir = randomModelWith(16, { eagle3: eagle3Folder, medusa: medusaFolder });
  assert.equal(await kindOf('eagle3', dir), 'eagle3');
  assert.equal(await kindOf('medusa', dir), 'medusa');
  assert.equal(await kindOf('auto', dir), 'eagle3');
  await assert.rejects(plan('eagle2', dir), /no drafter for EAGLE2.*heads.eagle/);
  rmSync(join(dir, 'heads', 'eagle3'), { recursive: true });
  assert.equal(await kindOf('auto', dir), 'medusa');
});

test('AUTO takes the drafter of a shallow model only when it is asked for', async () => {
  const dir = randomModelWith(15, { eagle3: eagle3Folder });
  assert.equal(await kindOf('eagle3', dir), 'eagle3');
  assert.equal(await kindOf('auto', dir), undefined);
  assert.deepEqual((await plan('auto', dir)).outputs.taps, []);
  assert.equal(await kindOf('auto', dir, join(dir, 'heads', 'eagle3')), 'eagle3');
});

test('a draft model is told from a head', async () => {
  const { drafting } = await plan('auto', bare, goldenDir('llama'));
  assert.deepEqual(drafting, { kind: 'blend', trained: { kind: 'draftModel', dir: goldenDir('llama') } });
});

test('NEXTN without a head of that kind is n-gram, and says so', async () => {
  const { drafting, note } = await plan('nextn', bare);
  assert.deepEqual(drafting, { kind: 'ngram' });
  assert.match(note!, /no multi-token-prediction head.*NGRAM/);
});

test('a head that was asked for has to fit; a broken one of the model itself is left out of the blend', async () => {
  await assert.rejects(plan('eagle2', bare, headDir('eagle3_trained')), /EAGLE3/);
  await assert.rejects(
    plan('eagle3', goldenDir('qwen2_tied'), headDir('eagle3_trained')),
    (error: SlipstreamError) => error.code === 'model.unsupported',
  );
  const dir = randomModelWith(16, {});
  mkdirSync(join(dir, 'heads', 'eagle3'), { recursive: true });
  writeFileSync(join(dir, 'heads', 'eagle3', 'config.json'), '{');
  await assert.rejects(plan('eagle3', dir));
  const { drafting, note } = await plan('auto', dir);
  assert.deepEqual(drafting, { kind: 'blend', trained: undefined });
  assert.match(note!, /config\.json.*AUTO drafts without it/);
});

/** Folders of everything that drafts, and the algorithms that draft with them. */
const drafterFolders: readonly { dir: string; holds: RegExp; algorithms: readonly Algorithm[] }[] = [
  { dir: headDir('eagle1_trained'), holds: /holds an EAGLE head/, algorithms: ['eagle', 'eagle2'] },
  { dir: headDir('eagle3_trained'), holds: /holds an EAGLE-3 head/, algorithms: ['eagle3'] },
  { dir: headDir('medusa_trained'), holds: /holds Medusa heads/, algorithms: ['medusa'] },
  { dir: goldenDir('llama'), holds: /holds a complete model,/, algorithms: ['standalone'] },
  {
    dir: writeHead(temporaryFolder(), withTarget(mimoFolder)),
    holds: /holds a complete model with a multi-token-prediction head/,
    algorithms: ['standalone'],
  },
];

test('a folder for another algorithm is told by what it holds and the algorithm to choose, for every pair', async () => {
  for (const { dir, holds, algorithms: right } of drafterFolders) {
    for (const algorithm of ['standalone', 'eagle', 'eagle2', 'eagle3', 'medusa'] as const) {
      if (right.includes(algorithm)) {
        assert.ok(await plan(algorithm, bare, dir), `${algorithm} with ${dir}`);
        continue;
      }
      const name = {
        standalone: 'draft',
        eagle: 'eagle',
        eagle2: 'eagle',
        eagle3: 'eagle3',
        medusa: 'medusa',
      };
      const given = () => plan(algorithm, bare, dir);
      const own = () => plan(algorithm, modelWith({ [name[algorithm]]: dir }));
      for (const planned of [given, own]) {
        await assert.rejects(planned, (error: SlipstreamError) => {
          assert.equal(error.code, 'usage', error.message);
          assert.match(error.message, holds);
          const choice = right.map((each) => each.toUpperCase()).join(' or ');
          assert.ok(error.message.includes(`choose the algorithm ${choice} (--spec`), error.message);
          return true;
        });
      }
    }
  }
});

test('a folder of nothing that drafts is refused before the model is loaded', async () => {
  const adapter = writeHead(temporaryFolder(), { config: {}, weights: { 'adapter.weight': [2, 2] } });
  for (const algorithm of ['standalone', 'eagle', 'eagle2', 'eagle3', 'medusa', 'auto'] as const) {
    for (const dir of [adapter, temporaryFolder(), join(bare, 'none')]) {
      await assert.rejects(plan(algorithm, bare, dir), (error: SlipstreamError) => {
        assert.match(error.code, /^model\./);
        assert.ok(error.message.includes(dir), error.message);
        return true;
      });
    }
  }
});

test('an editor is told which algorithms a model can draft with, and what the others lack', async () => {
  const dir = modelWith({ eagle: headDir('eagle1_trained') });
  const facts = await availableAlgorithms({ algorithm: 'auto' }, dir);
  assert.deepEqual(
    facts.map(({ algorithm }) => algorithm),
    algorithms,
  );
  const missing = facts.filter((fact) => fact.missing !== undefined).map(({ algorithm }) => algorithm);
  assert.deepEqual(missing, ['standalone', 'eagle3', 'medusa']);
});
