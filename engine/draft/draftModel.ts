import type { ModelOutputs } from '../compile/targetOutputs.ts';
import type { DraftTemperature } from '../cost/draftTemperature.ts';
import type { ForwardOutput, LanguageModel } from '../model/languageModel.ts';
import { ROOT } from '../tree/tokenTree.ts';
import { TokenTreeBuilder } from '../tree/tokenTreeBuilder.ts';
import type { Drafter, ProposalLimits, SessionView } from './drafter.ts';
import { DepthByCost, type DepthRule, type DraftModelCosts, fixedDepth } from './draftModelDepth.ts';
import type { DraftedToken, DraftLimits, DraftModelSequence } from './draftModelSequence.ts';
import { DraftModelSequences } from './draftModelSequences.ts';
import { catchingUp, type Proposal } from './proposal.ts';

/** Names and meaning follow SGLang's server options. */
export interface DraftModelOptions {
  /** Passes of the draft model a step: the levels of the tree. Absent: as many as pay. */
  readonly numSteps?: number | undefined;
  /**
   * Tokens that are continued at each level, each by as many. A pass evaluates the whole tree above its level but for the
   * path that all of it shares. Absent: the best one is, and the runners-up of every pass, which cost none, are its siblings.
   */
  readonly topk?: number | undefined;
  /** Nodes of the tree at most. */
  readonly numDraftTokens?: number | undefined;
  /** How far the draft model's estimates are trusted where it decides how deep to draft; absent: as they are. */
  readonly temperature?: DraftTemperature | undefined;
}

export interface DraftModelParts {
  /** Opened with `draftModelOutputs`, and by its opener disposed. */
  readonly model: LanguageModel;
  readonly costs: DraftModelCosts;
  /** Of the target: what it does not know is not drafted, nor what it has no room for. */
  readonly target: { readonly vocabSize: number; readonly contextLength: number };
}

/** Siblings that a pass's best token is given where the width is left to the drafter. */
const RUNNERS_UP = 3;

/** What a model has to be opened with to draft with these options. */
export function draftModelOutputs({ topk }: DraftModelOptions): ModelOutputs {
  return { taps: [], successors: topk ?? 1 + RUNNERS_UP, logProbs: 'successors' };
}

interface Candidate extends DraftedToken {
  readonly parent: Candidate | undefined;
  readonly node: number;
  readonly pathLogProb: number;
}

/**
 * A smaller model of the same vocabulary drafts (Leviathan et al., arXiv 2211.17192; SGLang's STANDALONE): one pass a
 * level, best continuations first, on KV rows of its own that follow what the target accepts. The estimates are the draft
 * model's own probabilities.
 */
export class DraftModelDrafter implements Drafter {
  readonly name = 'draftModel';
  readonly #parts: DraftModelParts;
  readonly #options: DraftModelOptions;
  readonly #sequences: DraftModelSequences;

  constructor(parts: DraftModelParts, options: DraftModelOptions = {}) {
    this.#parts = parts;
    this.#options = options;
    this.#sequences = new DraftModelSequences(parts.model, parts.target.contextLength, 'argmax');
  }

  get bytes(): number {
    return this.#parts.model.info.weightBytes + this.#sequences.bytes;
  }

  async propose(
    view: SessionView,
    budget: number,
    { levels = Number.POSITIVE_INFINITY, signal }: ProposalLimits = {},
  ): Promise<Proposal> {
    const { numDraftTokens = budget } = this.#options;
    const drafted = await this.#sequences.draft(view.tokens, signal, (sequence, window, deepest) =>
      this.#draft(sequence, window, { levels: Math.min(budget, levels, deepest), signal }),
    );
    return drafted === 'catchingUp' ? catchingUp : drafted.build(Math.min(budget, numDraftTokens));
  }

  /** What was accepted shows in the tokens of the next proposal. */
  observe(): void {}

  dispose(): void {
    this.#sequences.dispose();
  }

  async #draft(
    sequence: DraftModelSequence,
    tokens: Int32Array,
    { levels, signal }: DraftLimits,
  ): Promise<TokenTreeBuilder | 'catchingUp'> {
    const { topk = 1, temperature } = this.#options;
    const rule = this.#depthRule();
    const builder = new TokenTreeBuilder();
    let frontier: readonly Candidate[] = [];
    for (let depth = 1; depth <= levels && !signal?.aborted; depth++) {
      const output = await (depth === 1 ? sequence.follow(tokens) : sequence.extend(frontier));
      if (output === 'catchingUp') return output;
      if (output === 'unknownToken') break;
      frontier = this.#continuations(builder, frontier, output).slice(0, topk);
      const logProbs = frontier.map(({ pathLogProb }) => temperature?.accepted(pathLogProb) ?? pathLogProb);
      if (frontier.length === 0 || !rule.another({ depth, frontier: logProbs, context: tokens.length }))
        break;
    }
    return builder;
  }

  #depthRule(): DepthRule {
    const { numSteps, numDraftTokens } = this.#options;
    const asked = numSteps ?? numDraftTokens;
    return asked === undefined ? new DepthByCost(this.#parts.costs) : fixedDepth(asked);
  }

  /** Adds what the rows predict to the tree. @returns the new candidates, most probable paths first */
  #continuations(
    builder: TokenTreeBuilder,
    parents: readonly Candidate[],
    { successors, successorLogProbs }: ForwardOutput,
  ): Candidate[] {
    const rows = Math.max(1, parents.length);
    const width = successors!.length / rows;
    const candidates: Candidate[] = [];
    for (let row = 0; row < rows; row++) {
      const parent = parents.at(row);
      for (let i = row * width; i < (row + 1) * width; i++) {
        const token = successors![i];
        if (token >= this.#parts.target.vocabSize) continue;
        const logProb = successorLogProbs![i];
        const node = builder.add(parent?.node ?? ROOT, token, logProb, 'draftModel');
        candidates.push({ token, parent, node, pathLogProb: (parent?.pathLogProb ?? 0) + logProb });
      }
    }
    return candidates.sort((a, b) => b.pathLogProb - a.pathLogProb);
  }
}
