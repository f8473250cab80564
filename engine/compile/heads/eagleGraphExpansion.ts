import type { GraphBuilder, Value } from '../graphBuilder.ts';

/**
 * Which nodes a level goes on from: the most probable ones (EAGLE-2), or those at places that the run gives (the static
 * trees of EAGLE-1).
 */
export type Expansion = 'mostProbable' | 'given';

/** Which nodes a level has, and from which of them the next one goes on. */
export class Expander {
  readonly siblings: Value; // [k] int64: 0 .. k - 1
  readonly siblingMask: Value; // [k, k]
  readonly nextPositions: Value; // [1, k] int64
  readonly #width: Value; // [1] int64
  readonly #leastLogProb: Value;
  readonly #targetIds: Value | undefined;
  readonly #expand: Value | undefined; // [D, k] int64

  constructor(graph: GraphBuilder, targetIds: Value | undefined, expand: Value | undefined) {
    this.#targetIds = targetIds;
    this.#expand = expand;
    this.#width = graph.input('width', 'int64', [1]);
    this.#leastLogProb = graph.input('least_log_prob', 'float32', []);
    this.siblings = graph.input('siblings', 'int64', ['W']);
    this.siblingMask = graph.input('sibling_mask', 'float32', ['W', 'W']);
    this.nextPositions = graph.input('next_positions', 'int64', [1, 'W']);
  }

  /**
   * The k most probable children of every active node.
   *
   * @param logits [1, A, vocabulary] @param parentLogProbs [A]
   * @returns each [A * k]
   */
  children(graph: GraphBuilder, logits: Value, parentLogProbs: Value): { tokens: Value; logProbs: Value } {
    const all = graph.op('LogSoftmax', [logits], { axis: -1 });
    const [best, ids] = graph.ops('TopK', [all, this.#width], 2, { axis: -1 });
    const parents = graph.op('Unsqueeze', [parentLogProbs, graph.ints([1])]);
    const flat = (value: Value) => graph.op('Reshape', [value, graph.ints([-1])]);
    const tokens = this.#targetIds ? graph.op('Gather', [this.#targetIds, flat(ids)]) : flat(ids);
    return { tokens, logProbs: flat(graph.op('Add', [best, parents])) };
  }

  /** The k nodes that the next level goes on from: their places on this one, and the active nodes that they are children of. */
  frontier(graph: GraphBuilder, logProbs: Value, level: Value) {
    const { chosen, chosenLogProbs } = this.#choose(graph, logProbs, level);
    const best = graph.op('ReduceMax', [chosenLogProbs], { keepdims: 0 });
    return {
      chosen,
      chosenLogProbs,
      parents: graph.op('Div', [chosen, this.#width]),
      goOn: graph.op('Greater', [best, this.#leastLogProb]),
    };
  }

  #choose(graph: GraphBuilder, logProbs: Value, level: Value) {
    if (this.#expand) {
      const chosen = graph.op('Gather', [this.#expand, level]);
      return { chosen, chosenLogProbs: graph.op('Gather', [logProbs, chosen]) };
    }
    const [chosenLogProbs, chosen] = graph.ops('TopK', [logProbs, this.#width], 2, { axis: -1 });
    return { chosen, chosenLogProbs };
  }
}
