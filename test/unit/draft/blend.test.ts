import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CostModel } from '../../../engine/cost/costModel.ts';
import { CostController } from '../../../engine/decode/controller.ts';
import { BlendDrafter } from '../../../engine/draft/blend.ts';
import type { Drafter, ProposalLimits, SessionView, Verdict } from '../../../engine/draft/drafter.ts';
import { catchingUp, isCatchingUp, type Proposal, treeOf } from '../../../engine/draft/proposal.ts';
import { SUCCESSORS } from '../../../engine/draft/recycledSource.ts';
import type { CostTable } from '../../../engine/model/costTable.ts';
import { emptyTree, ROOT, type TokenTree } from '../../../engine/tree/tokenTree.ts';
import { TokenTreeBuilder } from '../../../engine/tree/tokenTreeBuilder.ts';
import { greedyVerifier } from '../../../engine/verify/greedy.ts';
import { Random } from '../../random.ts';
import { newSessionId, specialTokenIds, VOCAB_SIZE } from './sessionView.ts';

const table: CostTable = {
  nodeCounts: [1, 2, 4, 8, 16, 32],
  contexts: [128],
  ms: [[2, 2.3, 2.9, 4, 6.5, 12]],
};
/** What the free drafts are taken to cost a step. */
const FREE_MS = 0.03;

/** A text that nothing but an oracle can guess. */
function novelText(length: number, random: Random): number[] {
  return Array.from({ length }, () => random.below(80));
}

/** A text whose every token follows from the last two. */
function repetitiveText(length: number): number[] {
  return Array.from({ length }, (_, i) => i % 11);
}

interface LearnedCost {
  readonly msPerRun: number;
  readonly msPerLevel: number;
}

/** Knows what is written, and is right with the given probability at each token. */
class Oracle implements Drafter {
  readonly name = 'eagle3';
  readonly bytes = 1000;
  runs = 0;
  clockMs = 0;
  readonly verdicts: Verdict[] = [];
  text: readonly number[];
  acceptance: number;
  readonly #cost: LearnedCost;
  readonly #random = new Random(3);

  constructor(text: readonly number[], acceptance: number, cost: LearnedCost) {
    this.text = text;
    this.acceptance = acceptance;
    this.#cost = cost;
  }

  propose(view: SessionView, budget: number, _limits?: ProposalLimits): Proposal {
    const { msPerRun, msPerLevel } = this.#cost;
    this.runs++;
    this.clockMs += msPerRun + msPerLevel * budget;
    const builder = new TokenTreeBuilder();
    let parent = ROOT;
    let isRight = true;
    const written = view.tokens.length - view.promptLength;
    for (let i = 0; i < budget; i++) {
      isRight &&= this.#random.chance(this.acceptance);
      const token = isRight ? (this.text[written + i] ?? 0) : 81 + this.#random.below(8);
      parent = builder.add(parent, token, Math.log(0.9), 'eagle3');
    }
    return builder.build(budget);
  }

  observe(verdict: Verdict): void {
    this.verdicts.push(verdict);
  }

  dispose(): void {}
}

/** Writes the text as the decoder would. @returns the time by the cost table, and the steps */
async function write(
  blend: BlendDrafter,
  controller: CostController,
  text: readonly number[],
  oracle?: Oracle,
) {
  const id = newSessionId();
  const prompt = [5];
  const all = Int32Array.from([...prompt, ...text]);
  let ms = 0;
  let steps = 0;
  for (let done = 0; done < text.length; steps++) {
    const tokens = all.subarray(0, prompt.length + done);
    const hidden = { length: tokens.length - 1, width: 0, slice: () => new Float32Array(0) };
    const whole = { start: 0, end: 1 };
    const view = { id, tokens, promptLength: 1, prefix: whole, suffix: { start: 0, end: 0 }, hidden };
    const startedMs = oracle?.clockMs ?? 0;
    const asked = controller.budget();
    const proposal = asked > 0 ? await blend.propose(view, asked) : emptyTree;
    const draftMs = asked > 0 ? FREE_MS + (oracle?.clockMs ?? 0) - startedMs : 0;
    const context = tokens.length;
    const tree = controller.choose(treeOf(proposal), { context, pending: 1, draftMs });
    const argmax = predictions(tree, text.slice(done));
    const verified = greedyVerifier.verify(tree, { argmax });
    const successors = Int32Array.from(
      [...argmax].flatMap((best) => [best, ...Array(SUCCESSORS - 1).fill(89)]),
    );
    blend.observe({ tree, root: tokens[tokens.length - 1], ...verified, successors });
    const passMs = new CostModel(table).passMs(tree.size + 1, context);
    const { length: accepted } = verified.accepted;
    const drafted = isCatchingUp(proposal) ? 'catchingUp' : 'drafted';
    const drafting = asked > 0 ? drafted : 'notAsked';
    controller.observe({ context, nodes: tree.size + 1, tree, accepted, drafting, draftMs, passMs });
    ms += passMs + draftMs;
    done += accepted + 1;
  }
  return { ms, steps };
}

/** What the target says after each node: the text goes on, off its path anything else. */
function predictions(tree: TokenTree, text: readonly number[]): Int32Array {
  const depths: number[] = [];
  const argmax = [text[0]];
  for (let node = 0; node < tree.size; node++) {
    const above = tree.parents[node] === ROOT ? 0 : depths[tree.parents[node]];
    const isRight = above >= 0 && tree.tokens[node] === text[above];
    depths.push(isRight ? above + 1 : -1);
    argmax.push((isRight ? text[above + 1] : undefined) ?? 88);
  }
  return Int32Array.from(argmax);
}

function blendWith(oracle?: Oracle) {
  const costs = new CostModel(table);
  const blend = new BlendDrafter({
    ngram: { vocabSize: VOCAB_SIZE, specialTokenIds },
    learned: oracle && { drafter: oracle, source: 'eagle3', nodesPerLevel: 1 },
    costs,
    now: () => oracle?.clockMs ?? 0,
  });
  return { blend, controller: new CostController(costs) };
}

async function timeOf(text: readonly number[], oracle?: Oracle) {
  const { blend, controller } = blendWith(oracle);
  const { ms, steps } = await write(blend, controller, text, oracle);
  return { ms, steps, plainMs: text.length * new CostModel(table).passMs(1, 128) };
}

const cheap: LearnedCost = { msPerRun: 0.3, msPerLevel: 0.15 };

test('on text that nothing free can guess, a learned drafter that pays is run at nearly every step', async () => {
  const text = novelText(600, new Random(1));
  const oracle = new Oracle(text, 0.8, cheap);
  const { ms, steps, plainMs } = await timeOf(text, oracle);
  assert.ok(oracle.runs > 0.9 * steps, `${oracle.runs} of ${steps}`);
  assert.ok(ms < 0.75 * plainMs, `${ms} of ${plainMs} ms`);
});

/** Has nothing to say while it reads what the session has, as a draft model at a new place. */
class LateOracle extends Oracle {
  override propose(view: SessionView, budget: number): Proposal {
    const proposal = super.propose(view, budget);
    return this.runs > 20 ? proposal : catchingUp;
  }
}

test('one that has to catch up first is not taken for one that gains nothing', async () => {
  const text = novelText(600, new Random(1));
  const oracle = new LateOracle(text, 0.8, cheap);
  const { steps } = await timeOf(text, oracle);
  assert.ok(oracle.runs > 0.9 * steps, `${oracle.runs} of ${steps}`);
});

test('one that does not pay is given up, and asked again rarely', async () => {
  const text = novelText(1500, new Random(1));
  for (const [acceptance, cost] of [
    [0.05, cheap],
    [0.8, { msPerRun: 2, msPerLevel: 0.5 }],
  ] as const) {
    const oracle = new Oracle(text, acceptance, cost);
    const { ms, steps } = await timeOf(text, oracle);
    const { ms: withoutMs } = await timeOf(text);
    assert.ok(oracle.runs < 0.1 * steps, `${oracle.runs} of ${steps}`);
    assert.ok(oracle.runs > 1, 'asked again');
    assert.ok(ms < 1.02 * withoutMs, `${ms} instead of ${withoutMs} ms`);
  }
});

test('one that does not pay and has to catch up is asked as rarely', async () => {
  const random = new Random(1);
  const oracle = new Oracle([], 0, cheap);
  const { blend, controller } = blendWith(oracle);
  oracle.text = novelText(1000, random);
  await write(blend, controller, oracle.text, oracle);
  const before = oracle.runs;
  oracle.propose = function (this: Oracle) {
    this.runs++;
    this.clockMs += 5;
    return catchingUp;
  };
  const { steps } = await write(blend, controller, novelText(2000, random), oracle);
  assert.ok(oracle.runs - before < 0.01 * steps, `${oracle.runs - before} of ${steps}`);
});

test('one that begins to pay is found out', async () => {
  const random = new Random(1);
  const oracle = new Oracle([], 0, cheap);
  const { blend, controller } = blendWith(oracle);
  const writeNovel = (length: number) => {
    oracle.text = novelText(length, random);
    return write(blend, controller, oracle.text, oracle);
  };
  await writeNovel(1000);
  oracle.acceptance = 0.9;
  await writeNovel(12_000);
  const before = oracle.runs;
  const { steps } = await writeNovel(500);
  assert.ok(oracle.runs - before > 0.8 * steps, `${oracle.runs - before} of ${steps}`);
});

test('where the free sources are sure, it is left out', async () => {
  const text = repetitiveText(2000);
  const oracle = new Oracle(text, 0.8, cheap);
  const { ms, steps, plainMs } = await timeOf(text, oracle);
  assert.ok(oracle.runs < 0.25 * steps, `${oracle.runs} of ${steps}`);
  assert.ok(ms < plainMs / 3, `${ms} of ${plainMs} ms`);
  const free = await timeOf(text);
  assert.ok(ms < 1.03 * free.ms, `${ms} instead of ${free.ms} ms`);
});

test('a perfect one is asked for more levels than a poor one', async () => {
  const text = novelText(600, new Random(1));
  const asked = async (acceptance: number) => {
    const oracle = new Oracle(text, acceptance, cheap);
    const { blend, controller } = blendWith(oracle);
    await write(blend, controller, text, oracle);
    const late = oracle.verdicts.slice(-50).map(({ tree }) => tree.size);
    return late.reduce((sum, size) => sum + size, 0) / late.length;
  };
  assert.ok((await asked(0.98)) > 1.5 * (await asked(0.6)));
});

test('the learned drafter is told of every pass, whatever was verified', async () => {
  const text = [...repetitiveText(100), ...novelText(100, new Random(2))];
  const oracle = new Oracle(text, 0.5, cheap);
  const { blend, controller } = blendWith(oracle);
  const { steps } = await write(blend, controller, text, oracle);
  assert.equal(oracle.verdicts.length, steps);
  const written = oracle.verdicts.flatMap(({ tree, accepted, bonus }) => [
    ...accepted.map((node) => tree.tokens[node]),
    bonus,
  ]);
  assert.deepEqual(written.slice(0, text.length), text);
});

test('a fault of the learned drafter comes through, and the next step goes on', async () => {
  const text = novelText(50, new Random(1));
  const oracle = new Oracle(text, 0.8, cheap);
  const { blend, controller } = blendWith(oracle);
  const fault = new Error('out of memory');
  const propose = oracle.propose.bind(oracle);
  oracle.propose = () => {
    throw fault;
  };
  await assert.rejects(write(blend, controller, text, oracle), fault);
  oracle.propose = propose;
  await write(blend, controller, text, oracle);
});

test('who calls off a proposal calls off the learned drafter, and has what is free', async () => {
  // The last token stood there once before: what is free is not sure.
  const text = [1, 2, 3, 4, 5, 6, 7, 8, 9, 3];
  const oracle = new Oracle(text, 0.8, cheap);
  const { blend } = blendWith(oracle);
  const abort = new AbortController();
  oracle.propose = (_view, _budget, limits?: ProposalLimits) => {
    assert.equal(limits?.signal, abort.signal);
    abort.abort();
    oracle.runs++;
    return emptyTree;
  };
  const tokens = Int32Array.from(text);
  const whole = { start: 0, end: tokens.length };
  const hidden = { length: tokens.length - 1, width: 0, slice: () => new Float32Array(0) };
  const view = {
    id: newSessionId(),
    tokens,
    promptLength: tokens.length,
    prefix: whole,
    suffix: { start: 0, end: 0 },
    hidden,
  };
  const proposal = await blend.propose(view, 8, { signal: abort.signal });
  assert.equal(oracle.runs, 1);
  assert.equal(treeOf(proposal).tokens[0], 4);
});
