/** Where a drafted token came from. Metrics and the calibration are kept per source. */
export const draftSources = ['lastSuggestion', 'document', 'workspace'] as const;
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

  get size(): number {
    return this.#nodes.length;
  }

  /**
   * @param parent ROOT or an index that `add` returned
   * @param logProb log P(accepted | the parent was accepted), at most 0
   * @returns the node's index
   */
  add(parent: number, token: number, logProb: number, source: DraftSource): number {
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

  /** The `limit` most probable nodes whose parents are kept too, most probable first among equals in order. */
  build(limit: number): TokenTree {
    // A merged estimate can raise a parent but never its children, so a child may not outrank its parent.
    const rank = this.#nodes.map((node) => node.logProb);
    for (let i = 0; i < rank.length; i++) {
      const { parent } = this.#nodes[i];
      if (parent !== ROOT) rank[i] = Math.min(rank[i], rank[parent]);
    }
    const kept = rank
      .map((_, i) => i)
      .sort((a, b) => rank[b] - rank[a] || a - b)
      .slice(0, limit)
      .sort((a, b) => a - b);
    return this.#take(kept, rank);
  }

  #take(kept: readonly number[], logProbs: readonly number[]): TokenTree {
    const newIndex = new Map(kept.map((old, index) => [old, index]));
    const nodes = kept.map((old) => this.#nodes[old]);
    return {
      size: kept.length,
      tokens: Int32Array.from(nodes, (node) => node.token),
      parents: Int32Array.from(nodes, (node) => (node.parent === ROOT ? ROOT : newIndex.get(node.parent)!)),
      logProbs: Float32Array.from(kept, (old) => logProbs[old]),
      sources: nodes.map((node) => node.source),
    };
  }
}
