import { ropeTables } from '../architecture.ts';
import type { RopeTables } from '../attention.ts';
import type { Checkpoint } from '../checkpoint.ts';
import type { DecoderKernels } from '../decoderGraph.ts';
import { type Carried, GraphBuilder, type LoopBody, type LoopResult, type Value } from '../graphBuilder.ts';
import type { OnnxGraph } from '../onnxModel.ts';
import type { WeightWriter } from '../weightWriter.ts';
import type { PastRows } from './eagleGraphAttention.ts';
import { Expander, type Expansion } from './eagleGraphExpansion.ts';
import { DraftStep, firstFeatures, type RecurrentHead, type StepInputs } from './eagleGraphStep.ts';
import { HeadWeights } from './headWeights.ts';

export interface DraftGraphOptions {
  readonly kernels: DecoderKernels;
  readonly expansion: Expansion;
  /** Positions that pairs may have: the target's, not those that the head was trained on. */
  readonly contextLength: number;
}

/**
 * The graph that drafts a whole tree in one run: a loop over levels, as many and as wide as the run asks for. A level takes
 * the most probable children of the nodes on the level before it and goes on from the best of them, by the probability of
 * their path (EAGLE-2, arXiv 2406.16858, section 4.2). With width 1 that is a chain.
 *
 * Pairs are a token and the target's feature of the position before it. A run takes the N pairs that are new; the first
 * level is predicted from the last of them, the others leave their KV rows only.
 *
 * Inputs: features [N, taps * hidden]; tokens and positions [1, N] int64; last [1] int64: N - 1; pair_mask [1, N]: 0;
 * keys, values [1, kvHeads, P, headDim] and past_mask [1, P] of the pairs before (PastRows); levels [] int64;
 * width [1] int64: nodes that a level goes on from, and children each; for width k: siblings [k] int64 0 .. k - 1,
 * next_positions [1, k] int64, the position after the last pair's; sibling_mask [k, k], which hides all but the diagonal;
 * least_log_prob []: no level follows when none of its nodes would be as probable; with given expansion, expand [D, k] int64:
 * what `expanded` puts out.
 * Outputs, for D levels and C = k + (D - 1) * k * k: candidate_tokens [C] int64, the target's ids; candidate_log_probs [C],
 * of their paths; a level has the children of its first parent, best first, then of its second, ...;
 * expanded [D * k] int64: the nodes that each level went on from, by their place on it, best first;
 * rows [1, 2 * kvHeads, N + (D - 1) * k, headDim]: KV rows, the pairs' first;
 * feature [1, k, hidden]: what the step after the last level would take.
 */
export async function buildDraftGraph(
  head: RecurrentHead,
  target: Checkpoint,
  options: DraftGraphOptions,
  weights: WeightWriter,
): Promise<OnnxGraph> {
  return new DraftGraph(head, target, options, weights).build();
}

class DraftGraph {
  readonly #head: RecurrentHead;
  readonly #weights: HeadWeights;
  readonly #contextLength: number;
  readonly #expansion: Expansion;
  readonly #graph: GraphBuilder;

  constructor(head: RecurrentHead, target: Checkpoint, options: DraftGraphOptions, weights: WeightWriter) {
    this.#head = head;
    this.#weights = new HeadWeights(target, options.kernels, head.layer.normEpsilon);
    this.#contextLength = options.contextLength;
    this.#expansion = options.expansion;
    this.#graph = new GraphBuilder(weights);
  }

  async build(): Promise<OnnxGraph> {
    const graph = this.#graph;
    const { kvHeads, headDim, hiddenSize } = this.#head.layer;
    const step = new DraftStep(this.#head, this.#weights, await this.#rope(), this.#pastRows());
    const expander = this.#expander(await this.#targetIds());
    const levels = graph.input('levels', 'int64', []);
    const last = await graph.loop(levels, await this.#firstLevel(), (level) =>
      draftLevel(level, step, expander),
    );
    graph.output('candidate_tokens', last.candidateTokens, 'int64', ['C']);
    graph.output('candidate_log_probs', last.candidateLogProbs, 'float32', ['C']);
    graph.output('expanded', last.expanded, 'int64', ['E']);
    graph.output('rows', last.open, 'float32', [1, 2 * kvHeads, 'R', headDim]);
    graph.output('feature', last.features, 'float32', [1, 'W', hiddenSize]);
    return graph.finish();
  }

  async #rope(): Promise<RopeTables> {
    const { headDim } = this.#head.layer;
    const contextLength = this.#contextLength;
    const { cos, sin } = ropeTables({ ...this.#head.layer, contextLength });
    const shape = [contextLength, headDim / 2];
    return {
      cos: await this.#graph.floatWeight('rope.cos', 'float32', shape, cos),
      sin: await this.#graph.floatWeight('rope.sin', 'float32', shape, sin),
    };
  }

  #pastRows(): PastRows {
    const { kvHeads, headDim } = this.#head.layer;
    const shape = [1, kvHeads, 'P', headDim];
    const mask = this.#graph.input('past_mask', 'float32', [1, 'P']);
    return {
      keys: this.#graph.input('keys', 'float32', shape),
      values: this.#graph.input('values', 'float32', shape),
      mask,
      length: this.#graph.op('Shape', [mask], { start: 1 }),
    };
  }

  #expander(targetIds: Value | undefined): Expander {
    const given = this.#expansion === 'given';
    const expand = given ? this.#graph.input('expand', 'int64', ['D', 'W']) : undefined;
    return new Expander(this.#graph, targetIds, expand);
  }

  async #targetIds(): Promise<Value | undefined> {
    if (this.#head.kind !== 'eagle3' || !this.#head.targetIds) return undefined;
    const { targetIds } = this.#head;
    return this.#graph.weight(
      'target_ids',
      'int64',
      [targetIds.length],
      BigInt64Array.from(targetIds, BigInt),
    );
  }

  async #firstLevel(): Promise<Record<keyof Level, Carried>> {
    const graph = this.#graph;
    const { hiddenSize, kvHeads, headDim } = this.#head.layer;
    const width = this.#head.taps.length * this.#weights.target.hiddenSize;
    const taps = graph.input('features', 'float32', ['N', width]);
    const features = graph.op('Unsqueeze', [
      await firstFeatures(graph, this.#head, this.#weights, taps),
      graph.ints([0]),
    ]);
    return {
      tokens: { initial: graph.input('tokens', 'int64', [1, 'N']), type: 'int64', shape: [1, 'M'] },
      features: { initial: features, type: 'float32', shape: [1, 'M', hiddenSize] },
      positions: { initial: graph.input('positions', 'int64', [1, 'N']), type: 'int64', shape: [1, 'M'] },
      active: { initial: graph.input('last', 'int64', [1]), type: 'int64', shape: ['A'] },
      logProbs: { initial: graph.floats([0]), type: 'float32', shape: ['A'] },
      openMask: {
        initial: graph.input('pair_mask', 'float32', [1, 'N']),
        type: 'float32',
        shape: ['A', 'S'],
      },
      open: {
        initial: graph.empty('float32', [1, 2 * kvHeads, 0, headDim]),
        type: 'float32',
        shape: [1, 2 * kvHeads, 'O', headDim],
      },
      candidateTokens: { initial: graph.empty('int64', [0]), type: 'int64', shape: ['C'] },
      candidateLogProbs: { initial: graph.empty('float32', [0]), type: 'float32', shape: ['C'] },
      expanded: { initial: graph.empty('int64', [0]), type: 'int64', shape: ['E'] },
    };
  }
}

/** What one level hands to the next. */
interface Level extends StepInputs {
  readonly logProbs: Value; // [A], of the paths to the active nodes
  readonly candidateTokens: Value; // [C] of all levels so far
  readonly candidateLogProbs: Value; // [C]
  readonly expanded: Value; // [E]
}

async function draftLevel(
  { graph, iteration, carried }: LoopBody<keyof Level>,
  step: DraftStep,
  expander: Expander,
): Promise<LoopResult<keyof Level>> {
  const { logits, features, open } = await step.run(graph, carried);
  const { tokens, logProbs } = expander.children(graph, logits, carried.logProbs);
  const { chosen, chosenLogProbs, parents, goOn } = expander.frontier(graph, logProbs, iteration);
  const chain = (before: Value, added: Value) => graph.op('Concat', [before, added], { axis: 0 });
  const seenByParents = graph.op('Gather', [carried.openMask, parents], { axis: 0 });
  return {
    goOn,
    carried: {
      tokens: graph.op('Unsqueeze', [graph.op('Gather', [tokens, chosen]), graph.ints([0])]),
      features: graph.op('Gather', [features, parents], { axis: 1 }),
      positions: graph.op('Add', [expander.nextPositions, iteration]),
      active: graph.op('Identity', [expander.siblings]),
      logProbs: chosenLogProbs,
      openMask: graph.op('Concat', [seenByParents, expander.siblingMask], { axis: 1 }),
      open,
      candidateTokens: chain(carried.candidateTokens, tokens),
      candidateLogProbs: chain(carried.candidateLogProbs, logProbs),
      expanded: chain(carried.expanded, chosen),
    },
  };
}
