/** At the end of the target's context every algorithm writes what plain decoding does, and not a token more. */
import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type DecodeResult, decode } from '../../../engine/decode/decoder.ts';
import { Session } from '../../../engine/decode/session.ts';
import type { CostTable } from '../../../engine/model/costTable.ts';
import { algorithms, type SpeculationSettings } from '../../../engine/protocol.ts';
import { openSpeculation } from '../../../engine/speculation/speculation.ts';
import { planSpeculation } from '../../../engine/speculation/speculationPlan.ts';
import { greedyVerifier } from '../../../engine/verify/greedy.ts';
import { CpuModels } from '../../cpuModels.ts';
import { Random } from '../../random.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const CONTEXT = 72;
const models = new CpuModels();
const folder = temporaryFolder();
const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/golden/${name}`, import.meta.url));

function withContext(name: string, contextLength: number): string {
  const dir = join(folder, name);
  cpSync(fixture('llama_eagle_target'), dir, { recursive: true });
  const config = JSON.parse(readFileSync(join(dir, 'config.json'), 'utf8'));
  writeFileSync(
    join(dir, 'config.json'),
    JSON.stringify({ ...config, max_position_embeddings: contextLength }),
  );
  return dir;
}

const target = withContext('target', CONTEXT);
for (const [name, head] of Object.entries({ eagle: 'eagle1', eagle3: 'eagle3', medusa: 'medusa' })) {
  cpSync(fixture(`heads/${head}_trained`), join(target, 'heads', name), { recursive: true });
}
/** The target as its own draft model, of its context and of half of it. */
const draftModels = [withContext('long', CONTEXT), withContext('short', CONTEXT / 2)];

const settings: readonly SpeculationSettings[] = algorithms.flatMap((algorithm): SpeculationSettings[] => {
  if (algorithm === 'none') return [];
  const folders =
    algorithm === 'standalone' ? draftModels : [undefined, ...(algorithm === 'auto' ? draftModels : [])];
  return folders.flatMap((draftModel) => {
    const chosen = { algorithm, ...(draftModel && { draftModel }) };
    return [chosen, { ...chosen, numDraftTokens: 24 }];
  });
});

/** Prompts that repeat themselves, so that n-grams are found. */
function prompt(length: number): Int32Array {
  const random = new Random(length);
  const beginning = Array.from({ length: 12 }, () => random.below(512));
  return Int32Array.from({ length }, (_, i) => beginning[i % beginning.length]);
}

const promptLengths = [8, CONTEXT - 20, CONTEXT - 3, CONTEXT - 1, CONTEXT];
/** Where prompt and output end: one below the context, at it, and one over it; the last token needs no place. */
const ends = [CONTEXT - 1, CONTEXT, CONTEXT + 1];

async function write(chosen: SpeculationSettings) {
  const plan = await planSpeculation(chosen, target);
  const model = await models.open(target, { precision: 'int8', ...plan.outputs });
  // Drafts cost next to nothing, so that many are made.
  const costTable: CostTable = { nodeCounts: [1, 32], contexts: [128], ms: [[10, 11]] };
  const speculation = await openSpeculation(plan, {
    target: { model, costTable },
    cacheDir: folder,
    threads: 1,
    log: () => {},
  });
  const results: { result: DecodeResult; end: number; length: number }[] = [];
  for (const length of promptLengths) {
    const tokens = prompt(length);
    // One more than fits is cut to what does.
    for (const end of [...ends, CONTEXT + 2]) {
      if (end <= length) continue;
      const session = new Session(model.createKvCache(1), model.info);
      const result = await decode(
        session,
        { ...speculation, verifier: greedyVerifier },
        {
          prompt: { tokens, prefix: { start: 0, end: length }, suffix: { start: 0, end: 0 } },
          maxNewTokens: end - length,
          endTokens: new Set(),
          onToken: () => 'continue',
          signal: new AbortController().signal,
        },
      );
      session.dispose();
      results.push({ result, end, length });
    }
  }
  await speculation.dispose();
  return results;
}

let expected: Awaited<ReturnType<typeof write>>;
before(async () => {
  expected = await write({ algorithm: 'none' });
  for (const { result, end, length } of expected) {
    assert.equal(result.tokens.length, Math.min(end, CONTEXT + 1) - length);
    assert.equal(result.finish, 'length');
  }
});

for (const chosen of settings) {
  const { draftModel, ...rest } = chosen;
  const drafter = draftModel && { draftModel: basename(draftModel) };
  test(`as much and the same text: ${JSON.stringify({ ...rest, ...drafter })}`, async () => {
    const written = await write(chosen);
    for (const [i, { result, end, length }] of written.entries()) {
      assert.deepEqual(result.tokens, expected[i].result.tokens, `${length} tokens of prompt, to ${end}`);
      assert.equal(result.finish, 'length');
    }
    const drafted = written.reduce((sum, { result }) => sum + result.metrics.numDraftTokens, 0);
    const accepted = written.reduce((sum, { result }) => sum + result.metrics.numAcceptedTokens, 0);
    assert.ok(
      drafted > 0 && accepted > 0,
      `${accepted} of ${drafted} drafts accepted, or nothing was tested`,
    );
  });
}
