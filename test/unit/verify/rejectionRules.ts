/**
 * Rules that choose the token after a node one child at a time: the textbook's, to compare with, and wrong ones that a
 * test of losslessness has to find wrong.
 */
import { draw, normalise } from '../../../engine/sampling/distribution.ts';
import { targetNumbers } from '../../../engine/sampling/randomNumbers.ts';
import type { SamplingSettings } from '../../../engine/sampling/samplingSettings.ts';
import { targetDistribution } from '../../../engine/sampling/targetDistribution.ts';
import { ROOT } from '../../../engine/tree/tokenTree.ts';
import type { Verifier } from '../../../engine/verify/verifier.ts';

/** A node as a rule sees it. */
export interface Place {
  /** The target's distribution. */
  readonly p: Float64Array;
  /** The same without temperature or cuts. */
  readonly uncut: Float64Array;
  /** What the children were drawn from. */
  readonly q: Float64Array | undefined;
  readonly children: readonly number[]; // tokens
  readonly random: () => number;
}

/** @returns the next token */
export type Rule = (place: Place) => number;

export function verifierWith(rule: Rule, settings: SamplingSettings): Verifier {
  const random = targetNumbers(settings.seed);
  return {
    want: 'logits',
    verify(tree, { logits }) {
      const vocabSize = logits!.length / (tree.size + 1);
      const accepted: number[] = [];
      for (let parent = ROOT; ; parent = accepted.at(-1)!) {
        const row = logits!.subarray((parent + 1) * vocabSize, (parent + 2) * vocabSize);
        const children = [...tree.parents.keys()].filter((node) => tree.parents[node] === parent);
        const token = rule({
          p: targetDistribution(row, settings),
          uncut: targetDistribution(row, { ...settings, temperature: 1, topK: 0, topP: 1, minP: 0 }),
          q: tree.draftProbs?.get(parent),
          children: children.map((node) => tree.tokens[node]),
          random,
        });
        const child = children.find((node) => tree.tokens[node] === token);
        if (child === undefined) return { accepted, bonus: token };
        accepted.push(child);
      }
    },
  };
}

/** What was, when nothing else is left: a wrong rule may reject everything. */
function without(probs: Float64Array, token: number): Float64Array {
  const rest = probs.with(token, 0);
  return normalise(rest) ? rest : probs;
}

function difference(p: Float64Array, q: Float64Array): Float64Array {
  const rest = p.map((probability, token) => Math.max(0, probability - q[token]));
  normalise(rest);
  return rest;
}

function entropy(p: Float64Array): number {
  return p.reduce(
    (sum, probability) => (probability > 0 ? sum - probability * Math.log(probability) : sum),
    0,
  );
}

/** For chosen children: each is accepted with its share of what is left, else the rest is drawn from. */
export const textbook: Rule = ({ p, children, random }) => {
  let left = p;
  for (const token of children) {
    if (random() < left[token]) return token;
    left = without(left, token);
  }
  return draw(left, random);
};

export const wrongForChosen: Readonly<Record<string, Rule>> = {
  'accepts a later sibling with p instead of its share of what is left': ({ p, children, random }) => {
    let left = p;
    for (const token of children) {
      if (random() < p[token]) return token;
      left = without(left, token);
    }
    return draw(left, random);
  },
  'draws the bonus from p instead of the rest': ({ p, children, random }) => {
    let left = p;
    for (const token of children) {
      if (random() < left[token]) return token;
      left = without(left, token);
    }
    return draw(p, random);
  },
  'does not bring the rest back to a sum of 1': ({ p, children, random }) => {
    let left = p;
    for (const token of children) {
      if (random() < left[token]) return token;
      left = left.with(token, 0);
    }
    let above = random();
    const token = left.findIndex((probability) => {
      above -= probability;
      return above < 0;
    });
    return token < 0 ? left.length - 1 : token;
  },
  'accepts what is typical (Medusa)': ({ p, children, random }) => {
    const least = Math.min(0.3, 0.6 * Math.exp(-entropy(p)));
    return children.find((token) => p[token] > least) ?? draw(p, random);
  },
  'accepts the most probable token': ({ p, children, random }) => {
    const best = p.indexOf(Math.max(...p));
    return children.includes(best) ? best : draw(p, random);
  },
  'verifies as if the best child had been drawn': ({ p, children, random }) => {
    if (children.length === 0) return draw(p, random);
    const q = p.map((probability) => probability ** 2);
    normalise(q);
    return random() * q[children[0]] < p[children[0]] ? children[0] : draw(difference(p, q), random);
  },
};

export const wrongForCuts: Readonly<Record<string, Rule>> = {
  'accepts before the cuts and draws after them': ({ p, uncut, children, random }) => {
    let left = uncut;
    for (const token of children) {
      if (random() < left[token]) return token;
      left = without(left, token);
    }
    return draw(p, random);
  },
  'does not cut at all': ({ uncut, random }) => draw(uncut, random),
};

export const wrongForDrawn: Readonly<Record<string, Rule>> = {
  'draws the bonus from p': ({ p, q, children, random }) => {
    let [target, draft] = [p, q];
    for (const token of children) {
      if (random() * draft![token] < target[token]) return token;
      target = difference(target, draft!);
      draft = without(draft!, token);
    }
    return draw(p, random);
  },
  'draws the bonus from p without the rejected tokens': ({ p, q, children, random }) => {
    let [target, draft] = [p, q];
    for (const token of children) {
      if (random() * draft![token] < target[token]) return token;
      target = without(target, token);
      draft = without(draft!, token);
    }
    return draw(target, random);
  },
  'accepts what the target finds likelier than the drafter, and never else': ({ p, q, children, random }) => {
    let [target, draft] = [p, q];
    for (const token of children) {
      if (draft![token] <= target[token]) return token;
      target = difference(target, draft!);
      draft = without(draft!, token);
    }
    return draw(target, random);
  },
};

/** Wrong only where a node has several drawn children. */
export const wrongForDrawnSiblings: Readonly<Record<string, Rule>> = {
  'leaves a rejected sibling in q': ({ p, q, children, random }) => {
    let target = p;
    for (const token of children) {
      if (random() * q![token] < target[token]) return token;
      target = difference(target, q!);
    }
    return draw(target, random);
  },
  'compares a later sibling with p instead of the rest': ({ p, q, children, random }) => {
    let [target, draft] = [p, q];
    for (const token of children) {
      if (random() * draft![token] < p[token]) return token;
      target = difference(target, draft!);
      draft = without(draft!, token);
    }
    return draw(target, random);
  },
};
