/** Sampled text has the target's own distribution, whatever was drafted; the same tests find wrong rules wrong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draw } from '../../../engine/sampling/distribution.ts';
import { DraftSampler } from '../../../engine/sampling/draftSampler.ts';
import type { SamplingSettings } from '../../../engine/sampling/samplingSettings.ts';
import { emptyTree, ROOT, type TokenTree } from '../../../engine/tree/tokenTree.ts';
import { TokenTreeBuilder } from '../../../engine/tree/tokenTreeBuilder.ts';
import { createVerifier } from '../../../engine/verify/createVerifier.ts';
import { greedyVerifier } from '../../../engine/verify/greedy.ts';
import { rejectionVerifier } from '../../../engine/verify/rejection.ts';
import type { Verifier } from '../../../engine/verify/verifier.ts';
import { Random } from '../../random.ts';
import { misfit } from '../sampling/goodnessOfFit.ts';
import { plainDistribution } from '../sampling/plainDistribution.ts';
import {
  type Rule,
  textbook,
  verifierWith,
  wrongForChosen,
  wrongForCuts,
  wrongForDrawn,
  wrongForDrawnSiblings,
} from './rejectionRules.ts';
import { allTexts, pathTo, TableModel, textIndex } from './tableModel.ts';

const VOCAB = 4;
const LENGTH = 3;
const TEXTS = 8_000;
/** Of `misfit`: a right rule stays below the first, a wrong one must not be near. */
const FITS = 4;
const FAILS = 8;

const target = new TableModel(VOCAB, 1);
const draftModel = new TableModel(VOCAB, 2);
const uncut: SamplingSettings = { temperature: 0.8, topK: 0, topP: 1, minP: 0, seed: 3 };
const settings: Readonly<Record<string, SamplingSettings>> = {
  'no cut': uncut,
  hot: { ...uncut, temperature: 1.7 },
  'top-k': { ...uncut, topK: 3 },
  'top-p': { ...uncut, topP: 0.8 },
  'min-p': { ...uncut, minP: 0.25 },
  'all cuts': { ...uncut, topK: 3, topP: 0.9, minP: 0.2 },
};

/** Drafts what may follow a text. */
type Draft = (text: readonly number[]) => TokenTree;

/** What the draft model finds likeliest. */
function best(text: readonly number[], count: number): number[] {
  const row = draftModel.logits(text);
  return [...row.keys()].sort((a, b) => row[b] - row[a]).slice(0, count);
}

/** A tree with so many of the draft model's best tokens under every node of each level. */
function chosen(...widths: number[]): Draft {
  return memoised((text) => {
    const builder = new TokenTreeBuilder();
    const grow = (parent: number, context: readonly number[], [width, ...rest]: readonly number[]) => {
      if (width === undefined) return;
      for (const token of best(context, width)) {
        grow(builder.add(parent, token, -0.5, 'document'), [...context, token], rest);
      }
    };
    grow(ROOT, text, widths);
    return builder.build(100);
  });
}

function memoised(draft: Draft): Draft {
  const trees = new Map<string, TokenTree>();
  return (text) => {
    const key = text.join();
    const tree = trees.get(key) ?? draft(text);
    trees.set(key, tree);
    return tree;
  };
}

/** Trees of random shape and tokens. */
function randomTrees(random: Random): Draft {
  return () => {
    const builder = new TokenTreeBuilder();
    for (let size = random.below(9); size > 0; size--) {
      builder.add(random.below(builder.size + 1) - 1, random.below(VOCAB), -random.next(), 'workspace');
    }
    return builder.build(8);
  };
}

/** A tree with so many tokens drawn from the draft model under every node of each level. */
function drawn(asked: SamplingSettings, ...widths: number[]): Draft {
  const sampler = new DraftSampler(asked);
  return (text) => {
    const builder = new TokenTreeBuilder();
    const grow = (parent: number, context: readonly number[], [width, ...rest]: readonly number[]) => {
      if (width === undefined) return;
      const { tokens, draftProbs } = sampler.draw(draftModel.logits(context), width);
      for (const token of tokens) {
        const node = builder.addDrawn(parent, token, -0.5, 'draftModel', draftProbs);
        grow(node, [...context, token], rest);
      }
    };
    grow(ROOT, text, widths);
    return builder.build(100);
  };
}

function write(verifier: Verifier, draft: Draft): number[] {
  const text: number[] = [];
  while (text.length < LENGTH) {
    const tree = draft(text);
    const { accepted, bonus } = verifier.verify(tree, target.rowsOf(text, tree));
    text.push(...pathTo(tree, accepted.at(-1) ?? ROOT), bonus);
  }
  return text.slice(0, LENGTH);
}

/** How badly many texts fit what the target's own distribution of whole texts is by the definitions. */
function misfitOf(verifier: Verifier, draft: Draft, asked: SamplingSettings): number {
  const counts = Array(VOCAB ** LENGTH).fill(0);
  for (let i = 0; i < TEXTS; i++) counts[textIndex(VOCAB, write(verifier, draft))]++;
  return misfit(
    counts,
    allTexts(VOCAB, LENGTH).map((text) => probabilityOf(text, asked)),
  );
}

function probabilityOf(text: readonly number[], asked: SamplingSettings): number {
  return text.reduce(
    (product, token, i) => product * plainDistribution(target.logits(text.slice(0, i)), asked)[token],
    1,
  );
}

const nothing: Draft = () => emptyTree;
const chosenDrafts: Readonly<Record<string, (asked: SamplingSettings) => Draft>> = {
  nothing: () => nothing,
  'a chain': () => chosen(1, 1, 1),
  'two siblings': () => chosen(2),
  'all tokens': () => chosen(4),
  'a tree': () => chosen(3, 2, 1),
  'random trees': () => randomTrees(new Random(5)),
};
const drawnDrafts: Readonly<Record<string, (asked: SamplingSettings) => Draft>> = {
  'a drawn token': (asked) => drawn(asked, 1),
  'a drawn chain': (asked) => drawn(asked, 1, 1, 1),
  'two drawn siblings': (asked) => drawn(asked, 2),
  'all tokens, drawn': (asked) => drawn(asked, 4),
  'a drawn tree': (asked) => drawn(asked, 2, 3),
  'a chain drawn under a narrower cut': (asked) => drawn({ ...asked, topK: 2 }, 1, 1),
  'siblings drawn in the cold': (asked) => drawn({ ...asked, temperature: 0.2 }, 3, 1),
};

/** Each cut alone, with few drafts; without cuts and with all of them, with all drafts. */
for (const [name, asked] of Object.entries(settings)) {
  test(`${name}: texts are distributed as the target's, whatever was drafted`, () => {
    const isAlone = name !== 'no cut' && name !== 'all cuts';
    for (const [shape, draft] of Object.entries({ ...chosenDrafts, ...drawnDrafts })) {
      if (isAlone && !shape.endsWith('tree')) continue;
      const deviation = misfitOf(rejectionVerifier(asked), draft(asked), asked);
      assert.ok(deviation < FITS, `${shape}: ${deviation}`);
    }
  });
}

test('drafts of the target itself are accepted, as far as they were drawn alike', () => {
  const sampler = new DraftSampler(uncut);
  const verifier = rejectionVerifier(uncut);
  for (let i = 0; i < 1000; i++) {
    const { tokens, draftProbs } = sampler.draw(target.logits([]), 1);
    const builder = new TokenTreeBuilder();
    builder.addDrawn(ROOT, tokens[0], -0.1, 'draftModel', draftProbs);
    const tree = builder.build(1);
    assert.deepEqual(verifier.verify(tree, target.rowsOf([], tree)).accepted, [0]);
  }
});

test('one seed writes one text, whatever is chosen as a draft', () => {
  for (const asked of Object.values(settings)) {
    for (let seed = 0; seed < 100; seed++) {
      const expected = write(rejectionVerifier({ ...asked, seed }), nothing);
      for (const [shape, draft] of Object.entries(chosenDrafts)) {
        assert.deepEqual(write(rejectionVerifier({ ...asked, seed }), draft(asked)), expected, shape);
      }
    }
  }
});

test('temperature 0 is greedy', () => {
  assert.equal(createVerifier({ ...uncut, temperature: 0 }), greedyVerifier);
});

function assertFound(rules: Readonly<Record<string, Rule>>, draft: () => Draft, asked: SamplingSettings) {
  for (const [name, rule] of Object.entries(rules)) {
    const deviation = misfitOf(verifierWith(rule, asked), draft(), asked);
    assert.ok(deviation > FAILS, `"${name}" fits: ${deviation}`);
  }
}

test('the textbook rule for chosen siblings fits as well', () => {
  for (const asked of [uncut, settings['all cuts']]) {
    const deviation = misfitOf(verifierWith(textbook, asked), chosen(3, 2, 1), asked);
    assert.ok(deviation < FITS, `${deviation}`);
  }
});

test('wrong rules for chosen tokens are found', () => {
  assertFound(wrongForChosen, () => chosen(3, 2, 1), uncut);
});

test('wrong cuts are found', () => {
  assertFound(wrongForCuts, () => chosen(1, 1), settings['top-p']);
});

test('cuts in the wrong order are found', () => {
  const { topP, temperature } = { topP: 0.8, temperature: 1.7 };
  // Top-p first, then the temperature: cut at 1, heated by the tokens that are left.
  const rule: Rule = ({ uncut: cold, random }) => {
    const cut = plainDistribution([...cold].map(Math.log), { ...uncut, temperature: 1, topP });
    const hot = plainDistribution(cut.map(Math.log), { ...uncut, temperature });
    return draw(Float64Array.from(hot), random);
  };
  assertFound({ 'top-p before temperature': rule }, () => nothing, { ...uncut, topP, temperature });
});

test('wrong rules for drawn tokens are found', () => {
  assertFound(wrongForDrawn, () => drawn(uncut, 1, 1), uncut);
  assertFound(wrongForDrawnSiblings, () => drawn(uncut, 3), uncut);
});

test('a chosen token passed off as drawn is found', () => {
  const disguised: Draft = (text) => {
    const builder = new TokenTreeBuilder();
    const q = Float64Array.from(plainDistribution(draftModel.logits(text), uncut));
    builder.addDrawn(ROOT, best(text, 1)[0], -0.5, 'draftModel', q);
    return builder.build(1);
  };
  assert.ok(misfitOf(rejectionVerifier(uncut), disguised, uncut) > FAILS);
});

test('draws dropped for the tokens they turned out to be are found', () => {
  const sampler = new DraftSampler(uncut);
  const picky: Draft = (text) => {
    const { tokens, draftProbs } = sampler.draw(draftModel.logits(text), 1);
    const builder = new TokenTreeBuilder();
    builder.addDrawn(ROOT, tokens[0], Math.log(draftProbs[tokens[0]]), 'draftModel', draftProbs);
    return draftProbs[tokens[0]] > 0.4 ? builder.build(1) : emptyTree;
  };
  assert.ok(misfitOf(rejectionVerifier(uncut), picky, uncut) > FAILS);
});
