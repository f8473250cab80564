import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Precision } from '../../../engine/compile/precision.ts';
import { fixedController } from '../../../engine/decode/controller.ts';
import { type DecodeRequest, type DecodeResult, decode } from '../../../engine/decode/decoder.ts';
import { Session } from '../../../engine/decode/session.ts';
import { SessionPool } from '../../../engine/decode/sessionPool.ts';
import type { Drafter, SessionView } from '../../../engine/draft/drafter.ts';
import {
  DraftModelDrafter,
  type DraftModelOptions,
  draftModelOutputs,
} from '../../../engine/draft/draftModel.ts';
import { DraftModelSequence } from '../../../engine/draft/draftModelSequence.ts';
import { isCatchingUp, type Proposal, treeOf } from '../../../engine/draft/proposal.ts';
import type { CostTable } from '../../../engine/model/costTable.ts';
import type { LanguageModel } from '../../../engine/model/languageModel.ts';
import { ROOT, type TokenTree } from '../../../engine/tree/tokenTree.ts';
import { nodeDepths } from '../../../engine/tree/treeShape.ts';
import { greedyVerifier } from '../../../engine/verify/greedy.ts';
import { CpuModels } from '../../cpuModels.ts';
import { Random } from '../../random.ts';
import {
  type CheckpointShape,
  configOf,
  randomTensors,
  safetensors,
  tinyShape,
  writeRandomCheckpoint,
} from '../../randomCheckpoint.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';
import { CountedModel } from './countedModel.ts';
import { newSessionId, noHiddenRows } from './sessionView.ts';

const models = new CpuModels();
const folder = temporaryFolder();
const SEED = 21;
const smallShape: CheckpointShape = { ...tinyShape, layers: 1 };

/** A draft model that costs next to nothing, as long as it is sure. */
const table = (ms: number): CostTable => ({ nodeCounts: [1, 32], contexts: [128], ms: [[ms, 2 * ms]] });
const costs = { draft: table(0.1), target: table(1) };

const chain = (numSteps: number): DraftModelOptions => ({ numSteps, topk: 1 });
const everyWidth: readonly DraftModelOptions[] = [
  chain(5),
  { numSteps: 4, topk: 3 },
  { numSteps: 3 },
  { numSteps: 6, topk: 2, numDraftTokens: 7 },
  {},
];

const targetDir = writeRandomCheckpoint(join(folder, 'target'), tinyShape, SEED);
const draftDir = writeRandomCheckpoint(join(folder, 'draft'), smallShape, SEED);
/** Of another family and shape: a query head a KV head, tied, with biases. */
const otherDir = writeRandomCheckpoint(
  join(folder, 'other'),
  { ...smallShape, modelType: 'qwen2', hiddenSize: 24, kvHeads: 4, headDim: 16, tied: true },
  SEED + 1,
);

function openTarget(precision: Precision = 'int8'): Promise<LanguageModel> {
  return models.open(targetDir, { precision });
}

async function openDraft(dir = draftDir, precision: Precision = 'int8', topk = 4): Promise<CountedModel> {
  return new CountedModel(await models.open(dir, { precision, ...draftModelOutputs({ topk }) }));
}

async function openDrafter(options: DraftModelOptions, dir = draftDir, precision: Precision = 'int8') {
  const { topk } = options;
  const model = await openDraft(dir, precision, topk);
  const drafter = new DraftModelDrafter({ model, costs, target: tinyShape }, options);
  return { drafter, model };
}

function request(tokens: Int32Array, overrides: Partial<DecodeRequest> = {}): DecodeRequest {
  return {
    prompt: { tokens, prefix: { start: 0, end: tokens.length }, suffix: { start: 0, end: 0 } },
    maxNewTokens: 36,
    endTokens: new Set(),
    onToken: () => 'continue',
    signal: new AbortController().signal,
    ...overrides,
  };
}

function run(session: Session, asked: DecodeRequest, drafter?: Drafter, nodes = 16): Promise<DecodeResult> {
  return decode(session, { drafter, controller: fixedController(nodes), verifier: greedyVerifier }, asked);
}

function viewOf(tokens: ArrayLike<number>, id = newSessionId()): SessionView {
  const end = tokens.length;
  return {
    id,
    tokens: Int32Array.from(tokens),
    promptLength: end,
    prefix: { start: 0, end },
    suffix: { start: end, end },
    hidden: noHiddenRows,
  };
}

const newSession = (model: LanguageModel) => new Session(model.createKvCache(1), model.info);

async function plain(model: LanguageModel, asked: DecodeRequest): Promise<readonly number[]> {
  const session = newSession(model);
  const { tokens } = await run(session, asked);
  session.dispose();
  return tokens;
}

function someTokens(length: number, seed: number): Int32Array {
  const random = new Random(seed);
  return Int32Array.from({ length }, () => random.below(tinyShape.vocabSize));
}

for (const precision of ['fp32', 'int8'] satisfies Precision[]) {
  test(`greedy text is the target's own, whatever the draft model and its width, ${precision}`, async () => {
    const target = await openTarget(precision);
    let accepted = 0;
    for (const [i, options] of everyWidth.entries()) {
      // The target itself drafts in between: trees of which much is accepted, and trees of which little is.
      const dir = [draftDir, targetDir, otherDir][i % 3];
      const { drafter } = await openDrafter(options, dir, precision);
      for (const length of [1, 9, 120]) {
        const asked = request(someTokens(length, length + i));
        const result = await run(newSession(target), asked, drafter);
        assert.deepEqual(result.tokens, await plain(target, asked), JSON.stringify(options));
        accepted += result.metrics.numAcceptedTokens;
      }
      drafter.dispose();
    }
    assert.ok(accepted > 100);
  });

  test(`the target as its own draft model has all of its drafts accepted, ${precision}`, async () => {
    const target = await openTarget(precision);
    for (const [options, nodes] of [
      [chain(5), 5],
      [{ numSteps: 5 }, 64],
    ] as const) {
      const { drafter } = await openDrafter(options, targetDir, precision);
      for (const length of [1, 5, 60]) {
        const asked = request(someTokens(length, length));
        await proposeInTheEnd(drafter, viewOf(asked.prompt.tokens), 5);
        const { metrics } = await run(newSession(target), asked, drafter, nodes);
        assert.equal(metrics.numDrafts, 6);
        assert.equal(1 + metrics.numAcceptedTokens / metrics.numDrafts, 6, 'mean acceptance length');
      }
    }
  });
}

test('no deeper than it is asked, and as deep as a number of tokens asks, paying or not', async () => {
  const dear = { draft: table(50), target: table(1) };
  const model = await openDraft();
  const view = () => viewOf(someTokens(20, 7));
  const asked = new DraftModelDrafter(
    { model, costs: dear, target: tinyShape },
    { numDraftTokens: 6, topk: 1 },
  );
  assert.equal(treeOf(await asked.propose(view(), 16)).size, 6);
  assert.equal(
    Math.max(...nodeDepths(treeOf(await asked.propose(view(), 16, { levels: 2 })).parents)),
    1,
    'two levels',
  );
  const free = new DraftModelDrafter({ model, costs: dear, target: tinyShape }, { topk: 1 });
  assert.equal(Math.max(...nodeDepths(treeOf(await free.propose(view(), 16)).parents)), 0, 'one level');
});

test('a draft model that is always wrong changes nothing', async () => {
  const target = await openTarget();
  const { drafter } = await openDrafter(chain(4), contraryOfTarget());
  const asked = request(someTokens(30, 3));
  const { tokens, metrics } = await run(newSession(target), asked, drafter);
  assert.deepEqual(tokens, await plain(target, asked));
  assert.equal(metrics.numAcceptedTokens, 0);
  assert.ok(metrics.numDraftTokens > 100);
});

/** The target with its output turned round: it drafts what the target would write last. */
function contraryOfTarget(): string {
  const dir = join(folder, 'contrary');
  mkdirSync(dir, { recursive: true });
  const tensors = randomTensors(tinyShape, new Random(SEED)).map((tensor) =>
    tensor.name === 'lm_head.weight' ? { ...tensor, data: tensor.data.map((value) => -value) } : tensor,
  );
  writeFileSync(join(dir, 'config.json'), JSON.stringify(configOf(tinyShape)));
  writeFileSync(join(dir, 'model.safetensors'), safetensors(tensors));
  return dir;
}

test('rows kept across requests, cancels and documents change nothing', async () => {
  const target = await openTarget();
  const { drafter, model } = await openDrafter({ numSteps: 4, topk: 2 }, targetDir);
  const pool = new SessionPool(target, 2);
  const random = new Random(5);
  const beginnings = [someTokens(150, 1), someTokens(90, 2), someTokens(40, 3), someTokens(60, 4)];
  for (let i = 0; i < 40; i++) {
    const beginning = random.pick(beginnings);
    const kept = beginning.subarray(0, 1 + random.below(beginning.length));
    const tokens = Int32Array.from([...kept, ...someTokens(random.below(12), i)]);
    const abort = new AbortController();
    const cancelAfter = random.chance(0.3) ? random.below(20) : Number.POSITIVE_INFINITY;
    let taken = 0;
    const onToken = () => {
      if (taken++ >= cancelAfter) abort.abort();
      return 'continue' as const;
    };
    const asked = request(tokens, { maxNewTokens: 20, onToken, signal: abort.signal });
    const session = pool.acquire(tokens);
    const result = await run(session, asked, drafter);
    pool.release(session);
    const expected = await plain(target, request(tokens, { maxNewTokens: 20 }));
    assert.deepEqual(result.tokens, expected.slice(0, result.tokens.length));
  }
  assert.ok(model.caches <= 3);
  drafter.dispose();
  assert.equal(model.caches, 0);
  pool.dispose();
});

/** Aborts in the `pass`th pass of the draft model from now on, which is the last one then. */
function abortInPass(model: CountedModel, pass: number): AbortSignal {
  const abort = new AbortController();
  const last = model.passes + pass;
  model.onPass = () => {
    assert.ok(model.passes <= last, 'a pass after the cancel');
    if (model.passes === last) abort.abort();
  };
  return abort.signal;
}

for (const options of everyWidth) {
  test(`a cancel ends a draft at its next level, and leaves all in order: ${JSON.stringify(options)}`, async () => {
    const target = await openTarget();
    const { drafter, model } = await openDrafter(options, targetDir);
    const session = newSession(target);
    const random = new Random(6);
    const tokens = someTokens(30, 1);
    const expected = await plain(target, request(tokens, { maxNewTokens: 20 }));
    for (let i = 0; i < 20; i++) {
      const signal = abortInPass(model, 1 + random.below(12));
      const cancelled = await run(session, request(tokens, { maxNewTokens: 20, signal }), drafter);
      assert.deepEqual(cancelled.tokens, expected.slice(0, cancelled.tokens.length));
      assert.equal(cancelled.finish, signal.aborted ? 'cancelled' : 'length');
      model.onPass = () => {};
      const again = await run(session, request(tokens, { maxNewTokens: 20 }), drafter);
      assert.deepEqual(again.tokens, expected);
      assert.ok(again.metrics.numAcceptedTokens > 5, `${again.metrics.numAcceptedTokens} accepted`);
    }
  });
}

test('sessions that run at the same time do not share rows', async () => {
  const target = await openTarget();
  const { drafter } = await openDrafter(chain(4), targetDir);
  const beginning = someTokens(40, 1);
  const prompts = [1, 2, 3, 4].map((last) => Int32Array.from([...beginning, last]));
  const results = await Promise.all(
    prompts.map((prompt) => run(newSession(target), request(prompt), drafter)),
  );
  for (const [i, { tokens, metrics }] of results.entries()) {
    assert.deepEqual(tokens, await plain(target, request(prompts[i])));
    assert.ok(metrics.numAcceptedTokens > 18);
  }
});

for (const options of everyWidth) {
  test(`after any history the same is drafted as by a new drafter: ${JSON.stringify(options)}`, async () => {
    const { drafter, model } = await openDrafter(options, otherDir);
    const random = new Random(8);
    const texts = [someTokens(70, 1), someTokens(33, 2), someTokens(90, 3), someTokens(50, 4)].map((text) => [
      ...text,
    ]);
    const ids = texts.map(newSessionId);
    for (let i = 0; i < 60; i++) {
      const which = random.below(texts.length);
      if (random.chance(0.15)) {
        // Another request at about the same place.
        texts[which].length = 1 + random.below(texts[which].length);
        ids[which] = newSessionId();
      }
      const view = viewOf(texts[which], ids[which]);
      const tree = await proposeInTheEnd(drafter, view, 12);
      const fresh = new DraftModelDrafter({ model, costs, target: tinyShape }, options);
      assert.deepEqual(tree, await proposeInTheEnd(fresh, view, 12));
      fresh.dispose();
      texts[which].push(...somePath(tree, random), random.below(tinyShape.vocabSize));
    }
  });
}

/** Asks until the draft model has followed the prompt. */
async function proposeInTheEnd(drafter: Drafter, view: SessionView, budget: number): Promise<TokenTree> {
  for (;;) {
    const tree = treeOf(await drafter.propose(view, budget));
    if (tree.size > 0) return tree;
  }
}

/** Tokens of a path from the root, of a random length: what might be accepted. */
function somePath(tree: TokenTree, random: Random): number[] {
  const path: number[] = [];
  let parent = ROOT;
  while (random.chance(0.8)) {
    const children = [...tree.tokens.keys()].filter((node) => tree.parents[node] === parent);
    if (children.length === 0) break;
    parent = random.pick(children);
    path.push(tree.tokens[parent]);
  }
  return path;
}

test('a chain costs a pass a token, and nothing is evaluated twice', async () => {
  const { drafter, model } = await openDrafter(chain(4));
  const text = [...someTokens(40, 6)];
  const id = newSessionId();
  let tree = await proposeInTheEnd(drafter, viewOf(text, id), 16);
  assert.equal(tree.size, 4);
  const [first, second, third, fourth] = tree.tokens;
  const step = (tokens: readonly number[]) => {
    text.push(...tokens);
    return model.count(async () => {
      tree = treeOf(await drafter.propose(viewOf(text, id), 16));
    });
  };
  assert.deepEqual(await step([first, second, third, fourth, 7]), { tokens: 2 + 3, passes: 1 + 3 });
  assert.deepEqual(await step([8]), { tokens: 1 + 3, passes: 1 + 3 }, 'nothing accepted');
  assert.deepEqual(await step([tree.tokens[0], tree.tokens[1], 9]), { tokens: 1 + 3, passes: 1 + 3 });
});

test('the next request evaluates only what is new in its prompt', async () => {
  const target = await openTarget();
  const { drafter, model } = await openDrafter(chain(4));
  const session = newSession(target);
  const prompts = [someTokens(150, 1), someTokens(120, 2)];
  const drafted = (tokens: Int32Array) =>
    model.count(() => run(session, request(tokens, { maxNewTokens: 10 }), drafter));
  for (const prompt of prompts) await proposeInTheEnd(drafter, viewOf(prompt), 4);
  for (const prompt of prompts) {
    const { tokens } = await drafted(Int32Array.from([...prompt, 5, 6, 7]));
    assert.ok(tokens < 60, `${tokens} tokens for a prompt that is known but for its last ones`);
  }
});

test('a long prompt is followed little by little', async (t) => {
  const { drafter, model } = await openDrafter(chain(2));
  model.slowDown(t, 0.5);
  const view = viewOf(someTokens(300, 9));
  const passes: number[] = [];
  let proposal: Proposal;
  do {
    const { tokens } = await model.count(async () => {
      proposal = await drafter.propose(view, 16);
    });
    passes.push(tokens);
  } while (isCatchingUp(proposal!));
  assert.ok(passes.length > 2 && Math.max(...passes) < 150, passes.join());
  assert.equal(
    passes.reduce((sum, tokens) => sum + tokens),
    view.tokens.length + 1,
  );
  const { drafter: fresh } = await openDrafter(chain(2));
  assert.deepEqual(proposal!, await proposeInTheEnd(fresh, view, 16));
});

test('past its context the draft model goes on with the newer half of it', async () => {
  const dir = writeRandomCheckpoint(join(folder, 'short'), { ...smallShape, contextLength: 64 }, SEED);
  const { drafter, model } = await openDrafter(chain(4), dir);
  const asked = request(someTokens(20, 4), { maxNewTokens: 200 });
  const target = await openTarget();
  const { tokens, metrics } = await run(newSession(target), asked, drafter);
  assert.deepEqual(tokens, await plain(target, asked));
  assert.ok(metrics.numDrafts > 100 && metrics.numDraftTokens > 3 * metrics.numDrafts);
  assert.ok(model.tokens < 10 * metrics.numDrafts, `${model.tokens} tokens evaluated`);
});

test('a window that moves leaves no step without a draft, on a slow draft model too', async (t) => {
  const dir = writeRandomCheckpoint(join(folder, 'half'), { ...smallShape, contextLength: 256 }, SEED);
  const { drafter, model } = await openDrafter(chain(2), dir);
  // Half of the context at once would take ten proposals' time.
  model.slowDown(t, 2);
  const text = [...someTokens(150, 12)];
  const id = newSessionId();
  await proposeInTheEnd(drafter, viewOf(text, id), 4);
  while (text.length < 480) {
    const { size } = treeOf(await drafter.propose(viewOf(text, id), 4));
    assert.equal(size, 2, `nothing is drafted after ${text.length} tokens`);
    text.push(...someTokens(3, text.length));
  }
});

test('a draft model of the context of its target drafts to its end', async () => {
  const { drafter, model } = await openDrafter(chain(4), targetDir);
  const { contextLength } = tinyShape;
  const text = [...someTokens(contextLength - 40, 12)];
  const id = newSessionId();
  await proposeInTheEnd(drafter, viewOf(text, id), 4);
  for (; text.length < contextLength; text.push(...someTokens(1, text.length))) {
    const evaluated = await model.count(async () => {
      const { size } = treeOf(await drafter.propose(viewOf(text, id), 4));
      assert.equal(size, Math.min(4, contextLength - text.length + 1));
    });
    assert.ok(evaluated.tokens <= 1 + 4, `${evaluated.tokens} tokens evaluated at ${text.length}`);
  }
});

test('trees are as wide, as deep and as large as asked for', async () => {
  for (const { numSteps, topk, numDraftTokens } of [
    { numSteps: 1, topk: 4, numDraftTokens: 16 },
    { numSteps: 3, topk: 2, numDraftTokens: 10 },
    { numSteps: 4, topk: 3, numDraftTokens: 5 },
  ]) {
    const { drafter } = await openDrafter({ numSteps, topk, numDraftTokens });
    const tree = treeOf(await drafter.propose(viewOf([1, 2, 3]), 100));
    assert.equal(tree.size, Math.min(numDraftTokens, topk + (numSteps - 1) * topk * topk));
    assert.ok(Math.max(...nodeDepths(tree.parents)) < numSteps);
    for (const parent of [ROOT, ...tree.tokens.keys()]) {
      assert.ok(tree.parents.filter((other) => other === parent).length <= topk);
    }
    assert.deepEqual(new Set(tree.sources), new Set(['draftModel']));
  }
});

test('tokens that one of the two models does not know are neither drafted nor followed', async () => {
  const model = await openDraft();
  const narrow = new DraftModelDrafter(
    { model, costs, target: { ...tinyShape, vocabSize: 10 } },
    { numSteps: 3 },
  );
  for (let i = 0; i < 20; i++) {
    const tree = treeOf(await narrow.propose(viewOf([i]), 16));
    assert.ok(tree.tokens.every((token) => token < 10));
  }
  const wide = new DraftModelDrafter(
    { model, costs, target: { ...tinyShape, vocabSize: 1000 } },
    { numSteps: 3 },
  );
  const id = newSessionId();
  const nothing = await wide.propose(viewOf([1, 2, 999], id), 16);
  assert.ok(!isCatchingUp(nothing) && nothing.size === 0);
});

test('it says what memory it holds', async () => {
  const { drafter, model } = await openDrafter(chain(2));
  assert.equal(drafter.bytes, model.info.weightBytes);
  await drafter.propose(viewOf([1, 2, 3]), 4);
  assert.ok(drafter.bytes > model.info.weightBytes);
});

test('after a pass that failed the same text is drafted for again', async () => {
  let fails = false;
  /** Accepts any rows of the last pass; the pass that fails gives up those before it, as a cache does. */
  class FailingCache {
    length = 0;
    readonly exactDepth = 16;
    readonly bytes = 0;
    #pending = 0;

    async forward({ tokens }: { tokens: Int32Array }) {
      this.#pending = 0;
      if (fails) throw new Error('out of memory for a moment');
      this.#pending = tokens.length;
      return { argmax: Int32Array.of(9), taps: [] };
    }

    async commit(rows: ArrayLike<number>) {
      if (this.#pending === 0) throw new Error('commit without a forward pass');
      this.#pending = 0;
      this.length += rows.length;
    }

    truncate(length: number) {
      this.length = Math.min(this.length, length);
    }

    reserve() {}
    dispose() {}
  }
  const fake = { info: { vocabSize: 100 }, createKvCache: () => new FailingCache() };
  const sequence = new DraftModelSequence(fake as unknown as LanguageModel, 'argmax');
  await sequence.follow(Int32Array.of(1, 2, 3, 4));
  const [first, second] = [9, 8].map((token) => ({ token, parent: undefined }));
  await sequence.extend([first, second]);
  fails = true;
  await assert.rejects(
    sequence.extend([
      { token: 7, parent: first },
      { token: 6, parent: second },
    ]),
  );
  fails = false;
  assert.notEqual(await sequence.follow(Int32Array.of(1, 2, 3, 4, 9, 10)), 'catchingUp');
});
