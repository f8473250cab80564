/** Drafters for tests: what comes out may not depend on any of them. */
import type { Drafter, SessionView } from '../../../engine/draft/drafter.ts';
import { ROOT, type TokenTree } from '../../../engine/tree/tokenTree.ts';
import { TokenTreeBuilder } from '../../../engine/tree/tokenTreeBuilder.ts';
import type { Random } from '../../random.ts';

function drafter(name: string, propose: (view: SessionView, budget: number) => TokenTree): Drafter {
  return { name, bytes: 0, propose, observe() {}, dispose() {} };
}

/** Random tokens in trees of random shape. */
export function randomTreeDrafter(vocabSize: number, random: Random): Drafter {
  return drafter('random trees', (_view, budget) => {
    const builder = new TokenTreeBuilder();
    const size = random.below(budget + 1);
    while (builder.size < size) {
      const parent = builder.size === 0 || random.chance(0.3) ? ROOT : random.below(builder.size);
      builder.add(parent, random.below(vocabSize), -random.next(), 'document');
    }
    return builder.build(budget);
  });
}

/** What the target will write, now and then wrong, among branches of other tokens: many accepted, at any depth. */
export function noisyOracle(written: readonly number[], vocabSize: number, random: Random): Drafter {
  return drafter('noisy oracle', (view, budget) => {
    const builder = new TokenTreeBuilder();
    let parent = ROOT;
    for (const token of written.slice(view.tokens.length - view.promptLength)) {
      if (builder.size + 3 > budget || random.chance(0.12)) break;
      for (let i = random.below(3); i > 0; i--) builder.add(parent, random.below(vocabSize), -1, 'workspace');
      parent = builder.add(parent, token, -0.1, 'document');
    }
    return builder.build(budget);
  });
}

/** One chain as deep as the budget: the target's own text, then nonsense. */
export function deepChainDrafter(written: readonly number[], vocabSize: number, random: Random): Drafter {
  return drafter('deep chains', (view, budget) => {
    const builder = new TokenTreeBuilder();
    const right = written.slice(view.tokens.length - view.promptLength);
    const wrongFrom = random.below(budget + 1);
    let parent = ROOT;
    for (let i = 0; i < budget; i++) {
      const token = i < wrongFrom && i < right.length ? right[i] : random.below(vocabSize);
      parent = builder.add(parent, token, -0.01, 'lastSuggestion');
    }
    return builder.build(budget);
  });
}

/** As many children of the root as the budget, and never more than one level. */
export function wideDrafter(vocabSize: number, random: Random): Drafter {
  return drafter('wide trees', (_view, budget) => {
    const builder = new TokenTreeBuilder();
    while (builder.size < Math.min(budget, vocabSize)) {
      builder.add(ROOT, random.below(vocabSize), -random.next(), 'workspace');
    }
    return builder.build(budget);
  });
}

/** Twice as many nodes as asked for. */
export function greedyForBudget(vocabSize: number, random: Random): Drafter {
  const { propose } = randomTreeDrafter(vocabSize, random);
  return drafter('over budget', (view, budget) => propose(view, 2 * budget) as TokenTree);
}
