import { SlipstreamError } from '../errors.ts';

/** Where a drafted token came from. Metrics and the calibration are kept per source. */
export const draftSources = [
  'lastSuggestion',
  'document',
  'workspace',
  'changedCopy',
  'recycled',
  'eagle',
  'eagle3',
  'mtp',
  'medusa',
  'draftModel',
] as const;
export type DraftSource = (typeof draftSources)[number];

/** The parent of a node that continues the last committed token directly. */
export const ROOT = -1;

/**
 * Drafted tokens as a tree, in topological order (a parent's index is below its children's). A chain is a
 * tree with one child a node. Siblings hold distinct tokens.
 */
export interface TokenTree {
  readonly size: number;
  readonly tokens: Int32Array; // [node]
  readonly parents: Int32Array; // [node], ROOT or an index below the node's own
  readonly logProbs: Float32Array; // [node], log P(the target accepts the whole path to this node), estimated
  readonly sources: readonly DraftSource[]; // [node]
  /**
   * By parent: the distribution that its children were drawn from, in their order and without replacement. Children of
   * other parents were chosen, whatever the target's random numbers will be.
   *
   * A draw is verified as one, so none may be dropped for the token it turned out to be: its estimate in `logProbs` is
   * made before it is drawn, and is at most that of the siblings drawn before it.
   */
  readonly draftProbs?: ReadonlyMap<number, Float64Array>; // each [vocab], summing to 1
}

export const emptyTree: TokenTree = {
  size: 0,
  tokens: new Int32Array(0),
  parents: new Int32Array(0),
  logProbs: new Float32Array(0),
  sources: [],
};

interface Node {
  token: number;
  parent: number;
  logProb: number;
  source: DraftSource;
}

/**
 * Collects drafted tokens of any number of sources. The same token under the same parent is one node and
 * keeps the larger estimate, so that merging sources is adding to one builder.
 */
export class TokenTreeBuilder {
  readonly #nodes: Node[] = [];
  readonly #children = new Map<string, number>();
  readonly #draftProbs = new Map<number, Float64Array>();

  get size(): number {
    return this.#nodes.length;
  }

  /**
   * @param parent ROOT or an index that `add` returned
   * @param logProb log P(accepted | the parent was accepted), at most 0
   * @returns the node's index
   * @throws SlipstreamError internal under a parent with drawn children: no verifier takes such a mixture
   */
  add(parent: number, token: number, logProb: number, source: DraftSource): number {
    if (this.#draftProbs.has(parent)) throw mixture();
    return this.#insert(parent, token, logProb, source);
  }

  /**
   * Adds a token drawn from the drafter's own distribution. All children of one parent are drawn from the same one,
   * without replacement, and added in the order they were drawn in.
   *
   * @param logProb as for `add`, and made before the token was known (see TokenTree.draftProbs)
   * @param draftProbs [vocab]
   * @returns the node's index
   * @throws SlipstreamError internal under a parent with chosen children
   */
  addDrawn(
    parent: number,
    token: number,
    logProb: number,
    source: DraftSource,
    draftProbs: Float64Array,
  ): number {
    const sibling = this.#nodes.findLast((node) => node.parent === parent);
    if (sibling && !this.#draftProbs.has(parent)) throw mixture();
    const node = this.#insert(parent, token, logProb, source);
    if (sibling) this.#nodes[node].logProb = Math.min(this.#nodes[node].logProb, sibling.logProb);
    this.#draftProbs.set(parent, draftProbs);
    return node;
  }

  /** The `limit` most probable nodes as a tree. */
  build(limit: number): TokenTree {
    const logProbs = new Float32Array(this.#nodes.length);
    for (const [i, { parent, logProb }] of this.#nodes.entries()) {
      // A merged estimate can raise a node above its parent's; a path is never more probable than its beginning.
      logProbs[i] = parent === ROOT ? logProb : Math.min(logProb, logProbs[parent]);
    }
    const whole: TokenTree = {
      size: this.#nodes.length,
      tokens: Int32Array.from(this.#nodes, (node) => node.token),
      parents: Int32Array.from(this.#nodes, (node) => node.parent),
      logProbs,
      sources: this.#nodes.map((node) => node.source),
      ...(this.#draftProbs.size > 0 && { draftProbs: this.#draftProbs }),
    };
    return takeMostProbable(whole, limit);
  }

  #insert(parent: number, token: number, logProb: number, source: DraftSource): number {
    const pathLogProb = (parent === ROOT ? 0 : this.#nodes[parent].logProb) + Math.min(0, logProb);
    const key = `${parent},${token}`;
    const known = this.#children.get(key);
    if (known === undefined) {
      this.#children.set(key, this.#nodes.length);
      return this.#nodes.push({ token, parent, logProb: pathLogProb, source }) - 1;
    }
    if (pathLogProb > this.#nodes[known].logProb) {
      this.#nodes[known].logProb = pathLogProb;
      this.#nodes[known].source = source;
    }
    return known;
  }
}

function mixture(): SlipstreamError {
  return new SlipstreamError('internal', 'Chosen and drawn tokens were drafted as siblings.');
}

/** The `count` most probable nodes. A path is never more probable than its beginning, so what is left is a tree. */
export function takeMostProbable(tree: TokenTree, count: number): TokenTree {
  if (count >= tree.size) return tree;
  const kept = Array.from({ length: tree.size }, (_, node) => node)
    .sort((a, b) => tree.logProbs[b] - tree.logProbs[a] || a - b)
    .slice(0, count)
    .sort((a, b) => a - b);
  return subtree(tree, kept);
}

/** The nodes on the first `levels` levels. */
export function takeShallowest(tree: TokenTree, levels: number): TokenTree {
  const level = new Int32Array(tree.size);
  const kept: number[] = [];
  for (const [node, parent] of tree.parents.entries()) {
    level[node] = parent === ROOT ? 0 : level[parent] + 1;
    if (level[node] < levels) kept.push(node);
  }
  return kept.length === tree.size ? tree : subtree(tree, kept);
}

/** @param kept nodes, ascending, and with every node its parent */
export function subtree(tree: TokenTree, kept: readonly number[]): TokenTree {
  const renumbered = new Map(kept.map((old, index) => [old, index]));
  const parentOf = (old: number) => (tree.parents[old] === ROOT ? ROOT : renumbered.get(tree.parents[old])!);
  return {
    size: kept.length,
    tokens: Int32Array.from(kept, (old) => tree.tokens[old]),
    parents: Int32Array.from(kept, parentOf),
    logProbs: Float32Array.from(kept, (old) => tree.logProbs[old]),
    sources: kept.map((old) => tree.sources[old]),
    ...(tree.draftProbs && { draftProbs: draftProbsOf(tree.draftProbs, renumbered) }),
  };
}

function draftProbsOf(
  draftProbs: ReadonlyMap<number, Float64Array>,
  renumbered: ReadonlyMap<number, number>,
): ReadonlyMap<number, Float64Array> {
  const kept = [...draftProbs].filter(([parent]) => parent === ROOT || renumbered.has(parent));
  return new Map(kept.map(([parent, probs]) => [parent === ROOT ? ROOT : renumbered.get(parent)!, probs]));
}
