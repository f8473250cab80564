import { type DraftSource, ROOT, type TokenTree, TokenTreeBuilder } from '../tree/tokenTree.ts';
import type { Verdict } from './drafter.ts';
import type { Guess, GuessSource, PathEnd } from './guess.ts';

/** Paths less likely than this are not worth a row of the target's batch on any machine. */
const LEAST_PROBABILITY = 0.02;

/** A drafted token, by whatever sources. */
interface DraftNode extends PathEnd {
  /** P(the target writes the path up to here). */
  readonly pathProbability: number;
  readonly probability: number;
  /** [source], undefined where it did not guess this token. */
  readonly guesses: readonly (Guess | undefined)[];
  /** Indices in the tree. */
  readonly parent: number;
  index: number;
  /** Undefined as long as nothing was looked for. */
  children: readonly DraftNode[] | undefined;
}

/**
 * Best-first search for the most probable paths over what any number of sources guess. What several sources guess after
 * the same path is one node.
 */
export class DraftSearch {
  readonly #sources: readonly GuessSource[];
  #root: DraftNode | undefined;

  constructor(sources: readonly GuessSource[]) {
    this.#sources = sources;
  }

  /** @param text the path that ends with the last committed token */
  draft(text: PathEnd, budget: number): TokenTree {
    const root = { ...text, ...rootFacts };
    this.#root = root;
    const builder = new TokenTreeBuilder();
    const frontier = [...this.#expand(root)];
    while (builder.size < budget && frontier.length > 0) {
      const best = takeBest(frontier);
      const { source } = mostProbable(best.guesses);
      best.index = builder.add(best.parent, best.token, Math.log(best.probability), source);
      frontier.push(...this.#expand(best));
    }
    return builder.build(budget);
  }

  /** Lets the sources learn from every guess that was made, also from those that were cut before verification. */
  learn({ tree, accepted, bonus }: Verdict): void {
    const written = [...accepted.map((node) => tree.tokens[node]), bonus];
    let node = this.#root;
    for (const [i, token] of written.entries()) {
      const children: readonly DraftNode[] = node?.children ?? [];
      for (const child of children) this.#learn(child, child.token === token);
      node = children.find((child) => child.token === token);
      if (node && i < accepted.length) this.#credit(node, tree.sources[accepted[i]]);
    }
    this.#root = undefined;
  }

  #credit({ guesses }: DraftNode, name: DraftSource): void {
    const i = guesses.findIndex((guess) => guess?.source === name);
    if (i >= 0) this.#sources[i].credit?.(guesses[i]!);
  }

  #learn({ guesses }: DraftNode, accepted: boolean): void {
    for (const [i, source] of this.#sources.entries()) {
      const guess = guesses[i];
      if (guess) source.learn(guess, accepted);
    }
  }

  #expand(node: DraftNode): readonly DraftNode[] {
    const guessed = new Map<number, (Guess | undefined)[]>();
    for (const [i, source] of this.#sources.entries()) {
      for (const guess of source.after(node, node.guesses[i])) {
        const guesses = guessed.get(guess.token);
        if (guesses) guesses[i] = guess;
        else {
          const first: (Guess | undefined)[] = this.#sources.map(() => undefined);
          first[i] = guess;
          guessed.set(guess.token, first);
        }
      }
    }
    const children: DraftNode[] = [];
    for (const [token, guesses] of guessed) {
      const { probability } = mostProbable(guesses);
      const pathProbability = node.pathProbability * probability;
      if (pathProbability < LEAST_PROBABILITY) continue;
      children.push({
        token,
        before: node,
        depth: node.depth + 1,
        pathProbability,
        probability,
        guesses,
        parent: node.index,
        index: ROOT,
        children: undefined,
      });
    }
    node.children = children;
    return children;
  }
}

const rootFacts = {
  pathProbability: 1,
  probability: 1,
  guesses: [],
  parent: ROOT,
  index: ROOT,
  children: undefined,
};

function mostProbable(guesses: readonly (Guess | undefined)[]): Guess {
  return guesses.reduce((best, guess) =>
    guess && (!best || guess.probability > best.probability) ? guess : best,
  )!;
}

function takeBest(frontier: DraftNode[]): DraftNode {
  let best = 0;
  for (let i = 1; i < frontier.length; i++) {
    if (frontier[i].pathProbability > frontier[best].pathProbability) best = i;
  }
  const taken = frontier[best];
  frontier[best] = frontier[frontier.length - 1];
  frontier.pop();
  return taken;
}
