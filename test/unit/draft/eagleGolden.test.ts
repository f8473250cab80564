/** The trees that the reference implementation of EAGLE-2 and EAGLE-3 drafts, and what becomes of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixedController } from '../../../engine/decode/controller.ts';
import { decode } from '../../../engine/decode/decoder.ts';
import { Session } from '../../../engine/decode/session.ts';
import type { Drafter, SessionView, Verdict } from '../../../engine/draft/drafter.ts';
import { EagleDrafter } from '../../../engine/draft/eagle.ts';
import { treeOf } from '../../../engine/draft/proposal.ts';
import { emptyTree, ROOT, type TokenTree } from '../../../engine/tree/tokenTree.ts';
import { nodeDepths } from '../../../engine/tree/treeShape.ts';
import { greedyVerifier } from '../../../engine/verify/greedy.ts';
import { CpuModels } from '../../cpuModels.ts';
import { DraftHeads } from '../../draftHeads.ts';
import {
  CLEAR_GAP,
  EagleGolden,
  type EagleStep,
  eagleHeads,
  eaglePrompts,
  eagleTargetDir,
  eagleTrees,
} from '../../eagleGolden.ts';
import { goldenView } from './goldenView.ts';

const models = new CpuModels();
const heads = new DraftHeads();

/** Parents of the reference's tree, whose first node is the root. */
function parentsOf(step: EagleStep): number[] {
  return step.parents.slice(1).map((parent) => (parent === 0 ? ROOT : parent - 1));
}

/** The reference's mask, which has the root for its first row and column. */
function maskOf({ parents, size }: TokenTree): Uint8Array {
  const mask = new Uint8Array((size + 1) ** 2);
  for (let node = -1; node < size; node++) {
    const row = (node + 1) * (size + 1);
    mask[row] = 1;
    for (let seen = node; seen >= 0; seen = parents[seen]) mask[row + seen + 1] = 1;
  }
  return mask;
}

for (const name of eagleHeads) {
  const golden = new EagleGolden(name);

  test(`${name} drafts the reference's trees from the reference's features`, async () => {
    const head = await heads.open(await golden.openHead(), eagleTargetDir, 'fp32');
    for (const prompt of eaglePrompts) {
      const view = goldenView(golden.tokens(prompt), await golden.features(prompt));
      for (const shape of eagleTrees) {
        const options = golden.options(shape);
        const tree = treeOf(await new EagleDrafter(head, options).propose(view, options.numDraftTokens));
        const place = `${prompt} ${shape}`;
        assert.deepEqual([view.tokens.at(-1), ...tree.tokens], [...golden.firstTree(prompt, shape)], place);
        assert.deepEqual(maskOf(tree), golden.firstTreeMask(prompt, shape), place);
        const depths = [0, ...nodeDepths(tree.parents).map((depth) => depth + 1)];
        assert.deepEqual(depths, [...golden.firstTreePositions(prompt, shape)], place);
      }
    }
  });

  test(`${name} generates what the reference does, step by step`, async () => {
    const description = await golden.openHead();
    const model = await models.open(eagleTargetDir, { precision: 'fp32', taps: description.taps });
    const head = await heads.open(description, eagleTargetDir, 'fp32');
    let compared = 0;
    for (const prompt of eaglePrompts) {
      for (const shape of eagleTrees) {
        const { tokens: expected, steps } = golden.generation(prompt, shape);
        const options = golden.options(shape);
        const drafter = new Recorder(new EagleDrafter(head, options));
        const tokens = golden.tokens(prompt).slice(0, -1);
        const session = new Session(model.createKvCache(tokens.length), model.info);
        const controller = fixedController(options.numDraftTokens);
        const result = await decode(
          session,
          { drafter, controller, verifier: greedyVerifier },
          {
            prompt: { tokens, prefix: { start: 0, end: tokens.length }, suffix: { start: 0, end: 0 } },
            // A tree is cut to what is left to write: not here.
            maxNewTokens: expected.length + 16,
            endTokens: new Set(),
            onToken: () => 'continue',
            signal: new AbortController().signal,
          },
        );
        session.dispose();
        assert.deepEqual(result.tokens.slice(0, expected.length), expected);
        for (const step of steps.filter(isClear)) {
          const verdict = drafter.verdicts.get(step.context_len + 1);
          // After a step that was not clear another path may have been accepted, and the steps fall elsewhere.
          if (!verdict) continue;
          const place = `${prompt} ${shape} at ${step.context_len}`;
          assert.deepEqual([verdict.root, ...verdict.tree.tokens], step.draft_tokens, place);
          assert.deepEqual([...verdict.tree.parents], parentsOf(step), place);
          assert.equal(verdict.accepted.length, step.accept_length, place);
          compared++;
        }
      }
    }
    assert.ok(compared > 100, `${compared} steps compared`);
  });
}

function isClear(step: EagleStep): boolean {
  return Math.min(step.min_topk_order_gap, step.final_topk_boundary_gap) >= CLEAR_GAP;
}

/** Notes what became of each proposal, by the number of tokens before it, the root included. */
class Recorder implements Drafter {
  readonly name = 'recorder';
  readonly verdicts = new Map<number, Verdict>();
  readonly #drafter: EagleDrafter;
  #length = 0;

  constructor(drafter: EagleDrafter) {
    this.#drafter = drafter;
  }

  get bytes(): number {
    return this.#drafter.bytes;
  }

  /** The reference takes the first token from the prefill: no draft before it. */
  propose(view: SessionView, budget: number) {
    this.#length = view.tokens.length;
    return this.#length === view.promptLength ? emptyTree : this.#drafter.propose(view, budget);
  }

  observe(verdict: Verdict): void {
    this.verdicts.set(this.#length, verdict);
  }

  dispose(): void {}
}
