import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { openCheckpoint } from '../../../engine/compile/checkpoint.ts';
import type { MedusaHead } from '../../../engine/compile/heads/head.ts';
import { openHead } from '../../../engine/compile/heads/openHead.ts';
import type { Precision } from '../../../engine/compile/precision.ts';
import { fixedController } from '../../../engine/decode/controller.ts';
import { type DecodeRequest, decode } from '../../../engine/decode/decoder.ts';
import { Session } from '../../../engine/decode/session.ts';
import { SessionPool } from '../../../engine/decode/sessionPool.ts';
import type { Drafter, SessionView } from '../../../engine/draft/drafter.ts';
import {
  MedusaDrafter,
  type MedusaDrafterOptions,
  type MedusaPredictor,
} from '../../../engine/draft/medusa.ts';
import type { MedusaTree } from '../../../engine/draft/medusaTrees.ts';
import { catchingUp, treeOf } from '../../../engine/draft/proposal.ts';
import type { LanguageModel } from '../../../engine/model/languageModel.ts';
import { MedusaHeads } from '../../../engine/model/medusaHeads.ts';
import { emptyTree, ROOT, type TokenTree } from '../../../engine/tree/tokenTree.ts';
import { nodeDepths } from '../../../engine/tree/treeShape.ts';
import { greedyVerifier } from '../../../engine/verify/greedy.ts';
import { CpuModels } from '../../cpuModels.ts';
import { damageGraph } from '../../damagedGraph.ts';
import {
  firstCandidates,
  generation,
  medusaHeadDir,
  medusaPrompts,
  medusaTargetDir,
  medusaTrees,
  promptTokens,
  treeBuffers,
} from '../../medusaGolden.ts';
import { Random } from '../../random.ts';
import { safetensors, tinyShape, writeRandomCheckpoint } from '../../randomCheckpoint.ts';
import { randomMedusaTensors, writeRandomMedusa } from '../../randomMedusa.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const models = new CpuModels();
const folder = temporaryFolder();
const opened: MedusaHeads[] = [];
after(() => Promise.all(opened.map((heads) => heads.dispose())));

async function openHeads(dir: string, targetDir: string, precision: Precision, heads?: number) {
  const target = await openCheckpoint(targetDir);
  const head = (await openHead(dir, target.architecture, ['medusa'])) as MedusaHead;
  const medusa = await MedusaHeads.open(head, target, {
    precision,
    cacheDir: folder,
    threads: 1,
    heads,
    log: (_level, message) => assert.fail(message),
  });
  opened.push(medusa);
  return medusa;
}

const newSession = (model: LanguageModel) => new Session(model.createKvCache(1), model.info);

function request(tokens: Int32Array, overrides: Partial<DecodeRequest> = {}): DecodeRequest {
  return {
    prompt: { tokens, prefix: { start: 0, end: tokens.length }, suffix: { start: 0, end: 0 } },
    maxNewTokens: 30,
    endTokens: new Set(),
    onToken: () => 'continue',
    signal: new AbortController().signal,
    ...overrides,
  };
}

function run(session: Session, asked: DecodeRequest, drafter?: Drafter) {
  return decode(session, { drafter, controller: fixedController(20), verifier: greedyVerifier }, asked);
}

/** Ten candidates of each of four heads: head h's candidate r is the token 10 h + r. */
function predictor(probabilities: (head: number, rank: number) => number): MedusaPredictor {
  const places = Array.from({ length: 40 }, (_, i) => i);
  return {
    bytes: 7,
    predict: async () => ({
      candidates: 10,
      tokens: Int32Array.from(places),
      logProbs: Float32Array.from(places, (i) => Math.log(probabilities(Math.floor(i / 10), i % 10))),
    }),
  };
}

/** A session of `length` tokens of which `rows` have their hidden states. */
function viewOf(length: number, rows: number): SessionView {
  return {
    id: 1,
    tokens: new Int32Array(length),
    promptLength: length,
    prefix: { start: 0, end: length },
    suffix: { start: length, end: length },
    hidden: { length: rows, width: 1, slice: (start, end) => new Float32Array(end - start) },
  };
}

for (const name of medusaTrees) {
  test(`the published tree ${name} has the structure of the reference`, async () => {
    const drafter = new MedusaDrafter(
      predictor(() => 0.1),
      { tree: name },
    );
    const { size, parents, tokens } = treeOf(await drafter.propose(viewOf(5, 4), 64));
    const { paths, mask, indices, depths, leaves } = treeBuffers(name);
    assert.equal(size, paths.length);
    const row = size + 1;
    assert.deepEqual(
      [...nodeDepths(parents)].map((depth) => depth + 1),
      [...depths.subarray(1)],
    );
    // Their index is 0 for the root, then head by head; our tokens stand for the same without the root.
    assert.deepEqual(
      [...tokens].map((token) => token + 1),
      [...indices.subarray(1)],
    );
    for (let node = 0; node < size; node++) {
      const seen = new Set([0]);
      for (let i = node; i !== ROOT; i = parents[i]) seen.add(i + 1);
      const expected = [...mask.subarray((node + 1) * row, (node + 2) * row).entries()];
      assert.deepEqual(
        [...seen].sort((a, b) => a - b),
        expected.filter(([, bit]) => bit === 1).map(([i]) => i),
      );
    }
    assert.deepEqual(
      pathsTo(parents, (node) => !parents.includes(node)),
      goldenPaths(leaves, Math.max(...depths) + 1),
    );
    const all = pathsTo(parents, () => true).map((path) => path.map((node) => tokens[node - 1] % 10).join());
    assert.deepEqual(all.sort(), paths.map((path) => path.join()).sort());
  });
}

/** Nodes on the path to each chosen node, numbered from 1. */
function pathsTo(parents: Int32Array, chosen: (node: number) => boolean): number[][] {
  return [...parents.keys()]
    .filter(chosen)
    .map((leaf) => {
      const path: number[] = [];
      for (let node = leaf; node !== ROOT; node = parents[node]) path.unshift(node + 1);
      return path;
    })
    .sort(byNumbers);
}

function goldenPaths(leaves: Int32Array, width: number): number[][] {
  return Array.from({ length: leaves.length / width }, (_, leaf) =>
    [...leaves.subarray(leaf * width + 1, (leaf + 1) * width)].filter((node) => node >= 0),
  ).sort(byNumbers);
}

const byNumbers = (a: readonly number[], b: readonly number[]) => (a.join() < b.join() ? -1 : 1);

for (const prompt of medusaPrompts) {
  for (const tree of medusaTrees) {
    test(`a whole greedy generation is the reference's, step by step: ${prompt}, ${tree}`, async () => {
      const target = await models.open(medusaTargetDir, { precision: 'fp32', taps: [8] });
      const drafter = new MedusaDrafter(await openHeads(medusaHeadDir, medusaTargetDir, 'fp32'), { tree });
      const expected = generation(prompt, tree);
      const { tokens, steps } = await generate(target, drafter, promptTokens(prompt), expected.tokens.length);
      assert.deepEqual(tokens, expected.tokens);
      let compared = 0;
      for (const step of expected.steps) {
        const ours = steps.get(step.context_len);
        // Candidates that are as good as equal may stand in another order: the steps after them may begin elsewhere.
        if (step.min_topk_gap < 1e-4 || !ours) continue;
        assert.deepEqual(ours.candidates, step.tree_candidates, `candidates at ${step.context_len}`);
        assert.equal(ours.accepted, step.accept_length, `accepted at ${step.context_len}`);
        compared++;
      }
      assert.ok(compared > 0.8 * expected.steps.length);
      const first = steps.get(promptTokens(prompt).length);
      assert.deepEqual(first?.candidates, [...firstCandidates(prompt, tree)]);
    });
  }
}

interface Step {
  readonly candidates: readonly number[];
  readonly accepted: number;
}

/** As the reference decodes: the token after the prompt alone, then trees below the last token. */
async function generate(target: LanguageModel, drafter: Drafter, prompt: Int32Array, count: number) {
  const session = newSession(target);
  session.start(request(prompt).prompt);
  if (prompt.length > 1) await session.prefill(prompt.length);
  const steps = new Map<number, Step>(); // by tokens before the root
  await verify(session, emptyTree);
  while (session.tokens.length - prompt.length < count) {
    const context = session.tokens.length - 1;
    const root = session.tokens[context];
    const tree = treeOf(await drafter.propose(session, 64));
    const accepted = await verify(session, tree);
    steps.set(context, { candidates: [root, ...tree.tokens], accepted });
  }
  const tokens = [...session.tokens.subarray(prompt.length, prompt.length + count)];
  session.dispose();
  return { tokens, steps };
}

/** @returns how many nodes were accepted */
async function verify(session: Session, tree: TokenTree): Promise<number> {
  const rows = await session.verify(tree, 'argmax');
  const { accepted, bonus } = greedyVerifier.verify(tree, rows);
  await session.commit(tree, accepted, bonus);
  return accepted.length;
}

const probability = fc.double({ min: 1e-6, max: 1, noNaN: true });
/** Four heads with ten candidates each, best first. */
const probabilities = fc.array(
  fc.array(probability, { minLength: 10, maxLength: 10 }).map((list) => list.sort((a, b) => b - a)),
  { minLength: 4, maxLength: 4 },
);

test('without a published tree the likeliest paths are drafted', async () => {
  await fc.assert(
    fc.asyncProperty(
      probabilities,
      fc.integer({ min: 0, max: 40 }),
      fc.record({ numSteps: fc.integer({ min: 1, max: 5 }), topk: fc.integer({ min: 1, max: 12 }) }),
      async (table, budget, options) => {
        const drafter = new MedusaDrafter(
          predictor((head, rank) => table[head][rank]),
          options,
        );
        const tree = treeOf(await drafter.propose(viewOf(5, 4), budget));
        const possible = everyPath(table, options);
        assert.equal(tree.size, Math.min(budget, possible.length));
        const found = [...tree.logProbs].sort((a, b) => b - a);
        for (const [i, logProb] of found.entries()) {
          assert.ok(Math.abs(logProb - possible[i]) < 1e-4, `${i}: ${logProb}, ${possible[i]}`);
        }
        const depths = nodeDepths(tree.parents);
        for (const [node, token] of tree.tokens.entries()) assert.equal(Math.floor(token / 10), depths[node]);
      },
    ),
  );
});

/** Log-probabilities of the best paths, best first: of those with at most 41 nodes, which is more than any budget. */
function everyPath(
  table: readonly number[][],
  { numSteps, topk }: { numSteps: number; topk: number },
): number[] {
  let level = [0];
  const all: number[] = [];
  for (const head of table.slice(0, numSteps)) {
    level = level.flatMap((path) => head.slice(0, topk).map((p) => path + Math.log(p)));
    level = level.sort((a, b) => b - a).slice(0, 41);
    all.push(...level);
  }
  return all.sort((a, b) => b - a);
}

test('a published tree is cut to the levels, candidates and nodes that are asked for', async () => {
  const predicted = predictor((head, rank) => 0.9 ** (head + rank + 1));
  const propose = async (options: MedusaDrafterOptions, budget = 64) => {
    const drafter = new MedusaDrafter(predicted, { tree: 'mc_sim_7b_63', ...options });
    return treeOf(await drafter.propose(viewOf(5, 4), budget));
  };
  assert.ok(Math.max(...nodeDepths((await propose({ numSteps: 2 })).parents)) === 1);
  assert.ok((await propose({ topk: 3 })).tokens.every((token) => token % 10 < 3));
  assert.equal((await propose({ numDraftTokens: 17 })).size, 17);
  assert.equal((await propose({ numDraftTokens: 17 }, 9)).size, 9);
});

test('nothing is drafted where the newest hidden state is not known yet', async () => {
  const drafter = new MedusaDrafter(predictor(() => 0.1));
  assert.equal(await drafter.propose(viewOf(1, 0), 8), catchingUp);
  assert.equal(await drafter.propose(viewOf(9, 7), 8), catchingUp);
  assert.equal(treeOf(await drafter.propose(viewOf(9, 8), 8)).size, 8);
  assert.equal(drafter.bytes, 7);
});

const targetDir = writeRandomCheckpoint(join(folder, 'target'), tinyShape, 31);
const everyTree: readonly (MedusaTree | undefined)[] = [...medusaTrees, undefined];

for (const precision of ['fp32', 'int8'] satisfies Precision[]) {
  test(`greedy text is the target's own with random heads, across requests and cancels, ${precision}`, async () => {
    const target = await models.open(targetDir, { precision, taps: [tinyShape.layers] });
    const headDir = writeRandomMedusa(join(folder, precision), { ...tinyShape, heads: 4, blocks: 1 }, 5);
    const heads = await openHeads(headDir, targetDir, precision);
    const pool = new SessionPool(target, 2);
    const random = new Random(9);
    const text = Int32Array.from({ length: 120 }, () => random.below(tinyShape.vocabSize));
    let drafted = 0;
    for (let i = 0; i < 24; i++) {
      const tokens = Int32Array.from([...text.subarray(0, 1 + random.below(text.length)), random.below(90)]);
      const abort = new AbortController();
      const cancelAfter = random.chance(0.3) ? random.below(20) : Number.POSITIVE_INFINITY;
      let taken = 0;
      const onToken = () => {
        if (taken++ >= cancelAfter) abort.abort();
        return 'continue' as const;
      };
      const session = pool.acquire(tokens);
      const drafter = new MedusaDrafter(heads, { tree: everyTree[i % 3] });
      const result = await run(session, request(tokens, { onToken, signal: abort.signal }), drafter);
      pool.release(session);
      drafted += result.metrics.numDraftTokens;
      const plain = await run(newSession(target), request(tokens));
      assert.deepEqual(result.tokens, plain.tokens.slice(0, result.tokens.length));
    }
    assert.ok(drafted > 1000);
    pool.dispose();
  });
}

test('trained heads save passes, also quantized and with a tree of the step', async () => {
  const prompts = ['p1', 'p17', 'p200'] as const;
  for (const precision of ['fp32', 'int8'] satisfies Precision[]) {
    const target = await models.open(medusaTargetDir, { precision, taps: [8] });
    const heads = await openHeads(medusaHeadDir, medusaTargetDir, precision);
    let accepted = 0;
    for (const prompt of prompts) {
      const asked = request(promptTokens(prompt), { maxNewTokens: 64 });
      const plain = await run(newSession(target), asked);
      const { tokens: written, metrics } = await run(newSession(target), asked, new MedusaDrafter(heads));
      assert.deepEqual(written, plain.tokens);
      accepted += metrics.numAcceptedTokens;
    }
    // Rounded weights write other texts, some of them harder to guess: several say more than one.
    assert.ok(accepted > 24 * prompts.length, `${precision}: ${accepted} accepted`);
  }
});

test('a compiled graph that cannot be loaded is compiled again', async () => {
  const cacheDir = temporaryFolder();
  const target = await openCheckpoint(medusaTargetDir);
  const head = (await openHead(medusaHeadDir, target.architecture, ['medusa'])) as MedusaHead;
  const said: string[] = [];
  const open = async () => {
    const log = (_level: string, message: string) => said.push(message);
    const medusa = await MedusaHeads.open(head, target, { precision: 'int8', cacheDir, threads: 1, log });
    opened.push(medusa);
    return medusa.predict(new Float32Array(target.architecture.hiddenSize).fill(1));
  };
  const whole = await open();
  const [entry] = readdirSync(join(cacheDir, 'compiled'));
  damageGraph(join(cacheDir, 'compiled', entry, 'model.onnx'));
  assert.deepEqual(await open(), whole);
  assert.match(said.join(), /compiled again/);
});

test('heads one of which overflows are refused, also where it is not the first', async () => {
  const targetDir = writeRandomCheckpoint(join(folder, 'overflowing-target'), tinyShape, 1);
  const shape = { ...tinyShape, heads: 3, blocks: 1 };
  for (const overflowing of [0, 2]) {
    const dir = writeRandomMedusa(join(folder, `overflowing-${overflowing}`), shape, 5);
    const tensors = randomMedusaTensors(shape, 5).map((tensor) =>
      tensor.name.startsWith(`${overflowing}.`)
        ? { ...tensor, data: tensor.data.map((weight) => weight * 1e25) }
        : tensor,
    );
    writeFileSync(join(dir, 'medusa_lm_head.safetensors'), safetensors(tensors));
    for (const precision of ['fp32', 'int8'] as const) {
      await assert.rejects(openHeads(dir, targetDir, precision), {
        code: 'model.corrupt',
        message: new RegExp(`overflowing-${overflowing}: the head computes no numbers`),
      });
    }
  }
});
