import { type DraftSource, ROOT, type TokenTree, TokenTreeBuilder } from '../tree/tokenTree.ts';
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

/** A drafted token, by whatever sources. */
interface DraftNode extends PathEnd {
  readonly opinions: Opinions;
  /** P(the target writes the token | the path before it). */
  readonly probability: number;
  readonly pathProbability: number;
  /** Of the parent in the tree. */
  readonly parent: number;
}

/** What was found after a path. */
interface Expansion {
  readonly children: readonly DraftNode[];
  /** Bit i: source i guesses anything here. */
  readonly heard: number;
}

/**
 * Best-first search for the most probable paths over what any number of sources guess. What several sources guess after
 * the same path is one node.
 */
export class DraftSearch {
  readonly #sources: readonly GuessSource[];
  readonly #agreement: Pick<Agreement, 'probability' | 'observe'>;
  readonly #reliability = new Reliability();
  /** What was found in the last search: after the text, then after each node. */
  readonly #expansions = new Map<PathEnd, Expansion>();
  #text: PathEnd | undefined;

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
    this.#text = text;
    this.#expansions.clear();
    const builder = new TokenTreeBuilder();
    const frontier: DraftNode[] = [];
    const silent: Opinions = this.#sources.map(() => undefined);
    const open = (node: DraftNode) => {
      if (node.pathProbability >= leastProbability) frontier.push(node);
    };
    for (const child of this.#expand(text, silent, ROOT, 1)) open(child);
    while (builder.size < budget && frontier.length > 0) {
      const best = takeBest(frontier);
      const { parent, token, probability, opinions, pathProbability } = best;
      const node = builder.add(parent, token, Math.log(probability), this.#sourceOf(opinions));
      for (const child of this.#expand(best, opinions, node, pathProbability)) open(child);
    }
    return builder.build(budget);
  }

  /** Learns from every guess that was made, also from those that were cut before verification. */
  learn({ tree, accepted, bonus }: Verdict): void {
    let end = this.#text;
    const written = [...accepted.map((node) => tree.tokens[node]), bonus];
    for (const [i, token] of written.entries()) {
      const expansion = end && this.#expansions.get(end);
      if (!expansion) break;
      for (const child of expansion.children) this.#learn(child, expansion.heard, child.token === token);
      const right = expansion.children.find((child) => child.token === token);
      if (right && i < accepted.length) this.#credit(right.opinions, tree.sources[accepted[i]]);
      end = right;
    }
    this.#text = undefined;
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

  #expand(end: PathEnd, opinions: Opinions, parent: number, pathProbability: number): readonly DraftNode[] {
    const { heard, opinionsByToken } = this.#ask(end, opinions);
    const children: DraftNode[] = [];
    for (const [token, opinions] of opinionsByToken) {
      const probability = this.#agreement.probability(opinions, heard);
      children.push({
        token,
        before: end,
        depth: end.depth + 1,
        opinions,
        probability,
        pathProbability: pathProbability * probability,
        parent,
      });
    }
    this.#expansions.set(end, { children, heard });
    return children;
  }

  #ask(end: PathEnd, own: Opinions) {
    const opinionsByToken = new Map<number, (Guess | undefined)[]>();
    let heard = 0;
    for (let i = 0; i < this.#sources.length; i++) {
      for (const guess of this.#sources[i].after(end, own[i])) {
        heard |= 1 << i;
        let opinions = opinionsByToken.get(guess.token);
        if (!opinions) {
          opinions = new Array<Guess | undefined>(this.#sources.length).fill(undefined);
          opinionsByToken.set(guess.token, opinions);
        }
        opinions[i] = guess;
      }
    }
    return { heard, opinionsByToken };
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
