import { type DraftSource, ROOT, type TokenTree } from '../tree/tokenTree.ts';
import { Agreement, type Opinions } from './agreement.ts';
import type { Verdict } from './drafter.ts';
import type { Guess, GuessSource, PathEnd } from './guess.ts';
import { Reliability, type ReliabilityBucket } from './reliability.ts';

/** What to search for. */
export interface SearchLimits {
  /** Nodes at most. */
  readonly budget: number;
  /** Of a path: what is less likely is not worth a row of the target's batch. */
  readonly leastProbability: number;
}

/** Where the cost of a row is not known: nothing less likely pays on any machine. */
export const leastProbability = 0.02;

/** A drafted token, by whatever sources, or the end of the text. */
interface DraftNode extends PathEnd {
  readonly opinions: (Guess | undefined)[]; // [source]
  /** P(the target writes the token | the path before it). */
  probability: number;
  pathProbability: number;
  /** In the tree; ROOT as long as it is not drafted. */
  index: number;
  readonly parent: DraftNode | undefined;
  /** What was found after it; undefined where nothing was looked for. */
  children: readonly DraftNode[] | undefined;
  /** Bit i: source i guesses anything after it. */
  heard: number;
}

/**
 * Best-first search for the most probable paths over what any number of sources guess. What several sources guess after
 * the same path is one node.
 */
export class DraftSearch {
  readonly #sources: readonly GuessSource[];
  readonly #agreement: Pick<Agreement, 'probability' | 'observe'>;
  readonly #reliability = new Reliability();
  /** Of the last search. */
  #root: DraftNode | undefined;

  /** @param sources at most 31 */
  constructor(
    sources: readonly GuessSource[],
    agreement: Pick<Agreement, 'probability' | 'observe'> = new Agreement(sources.map(({ name }) => name)),
  ) {
    this.#sources = sources;
    this.#agreement = agreement;
  }

  /** Of all estimates so far. */
  get reliability(): readonly ReliabilityBucket[] {
    return this.#reliability.buckets;
  }

  /** @param text the path that ends with the last committed token */
  draft(text: PathEnd, { budget, leastProbability }: SearchLimits): TokenTree {
    const root = newNode(text, undefined, this.#sources.length);
    root.probability = 1;
    root.pathProbability = 1;
    this.#root = root;
    const drafted: DraftNode[] = [];
    const frontier = this.#expand(root, leastProbability);
    while (drafted.length < budget && frontier.length > 0) {
      const best = takeBest(frontier);
      best.index = drafted.push(best) - 1;
      for (const child of this.#expand(best, leastProbability)) frontier.push(child);
    }
    return {
      size: drafted.length,
      tokens: Int32Array.from(drafted, ({ token }) => token),
      parents: Int32Array.from(drafted, ({ parent }) => parent!.index),
      logProbs: Float32Array.from(drafted, ({ pathProbability }) => Math.log(pathProbability)),
      sources: drafted.map(({ opinions }) => this.#sourceOf(opinions)),
    };
  }

  /** Learns from every guess that was made, also from those that were cut before verification. */
  learn({ tree, accepted, bonus, taken = accepted.length, drafting }: Verdict): void {
    // Guesses that are there all the same are a cancelled request's, of another text. Its root would not tell them apart:
    // all requests of a fill-in-the-middle format begin at the same token.
    let node = drafting === 'notAsked' ? undefined : this.#root;
    this.#root = undefined;
    for (let i = 0; i <= accepted.length && node?.children; i++) {
      const token = i < accepted.length ? tree.tokens[accepted[i]] : bonus;
      for (const child of node.children) this.#learn(child, node.heard, child.token === token);
      node = node.children.find((child) => child.token === token);
      // What comes after the end of the text is learned from, but nobody gets it.
      if (node && i < Math.min(accepted.length, taken))
        this.#credit(node.opinions, tree.sources[accepted[i]]);
    }
  }

  #learn({ opinions, probability }: DraftNode, heard: number, accepted: boolean): void {
    this.#reliability.observe(this.#sourceOf(opinions), probability, accepted);
    this.#agreement.observe(opinions, heard, accepted);
    for (let i = 0; i < opinions.length; i++) {
      const guess = opinions[i];
      if (guess) this.#sources[i].learn(guess, accepted);
    }
  }

  #credit(opinions: Opinions, name: DraftSource): void {
    const i = this.#sources.findIndex((source) => source.name === name);
    if (opinions[i]) this.#sources[i].credit?.(opinions[i]);
  }

  /** Finds what may follow a node. @returns what is probable enough of it */
  #expand(node: DraftNode, leastProbability: number): DraftNode[] {
    const children = this.#ask(node);
    for (const child of children) {
      child.probability = this.#agreement.probability(child.opinions, node.heard);
      child.pathProbability = node.pathProbability * child.probability;
    }
    node.children = children;
    return children.filter(({ pathProbability }) => pathProbability >= leastProbability);
  }

  #ask(node: DraftNode): DraftNode[] {
    const children: DraftNode[] = [];
    for (let i = 0; i < this.#sources.length; i++) {
      for (const guess of this.#sources[i].after(node, node.opinions[i])) {
        node.heard |= 1 << i;
        let child = children.find(({ token }) => token === guess.token);
        if (!child) {
          const end = { token: guess.token, before: node, depth: node.depth + 1 };
          child = newNode(end, node, this.#sources.length);
          children.push(child);
        }
        child.opinions[i] = guess;
      }
    }
    return children;
  }

  /** The one that is surest of it. */
  #sourceOf(opinions: Opinions): DraftSource {
    let best = -1;
    for (let i = 0; i < opinions.length; i++) {
      const probability = opinions[i]?.probability ?? -1;
      if (probability > (opinions[best]?.probability ?? -1)) best = i;
    }
    return this.#sources[best].name;
  }
}

function newNode(
  { token, before, depth }: PathEnd,
  parent: DraftNode | undefined,
  sources: number,
): DraftNode {
  return {
    token,
    before,
    depth,
    opinions: new Array<Guess | undefined>(sources).fill(undefined),
    probability: 0,
    pathProbability: 0,
    index: ROOT,
    parent,
    children: undefined,
    heard: 0,
  };
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
