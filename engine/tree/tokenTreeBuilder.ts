import { SlipstreamError } from '../errors.ts';
import { takeMostProbable } from './subtrees.ts';
import { type DraftSource, ROOT, type TokenTree } from './tokenTree.ts';

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
