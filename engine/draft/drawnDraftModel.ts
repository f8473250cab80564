import { predictionsOnly } from '../compile/targetOutputs.ts';
import { DraftSampler } from '../sampling/draftSampler.ts';
import type { SamplingSettings } from '../sampling/samplingSettings.ts';
import { ROOT } from '../tree/tokenTree.ts';
import { TokenTreeBuilder } from '../tree/tokenTreeBuilder.ts';
import type { Drafter, ProposalLimits, SessionView, Verdict } from './drafter.ts';
import type { DraftModelParts } from './draftModel.ts';
import { DepthByCost, type DepthRule, fixedDepth } from './draftModelDepth.ts';
import type { DraftedToken, DraftLimits, DraftModelSequence } from './draftModelSequence.ts';
import { DraftModelSequences } from './draftModelSequences.ts';
import { catchingUp, type Proposal } from './proposal.ts';

export interface DrawnDraftModelOptions {
  /** What the target's text is sampled with, at a temperature above 0: drafts are drawn alike. */
  readonly sampling: SamplingSettings;
  /** Tokens of the chain. Absent: as many as pay. */
  readonly numSteps?: number | undefined;
}

/** What a model has to be opened with. */
export const drawnDraftModelOutputs = predictionsOnly;

/** Acceptance before anything was seen, and how fast it is followed. */
const FIRST_RATE = 0.7;
const FOLLOW = 0.05;

/**
 * A smaller model drafts a chain that is drawn from its own distribution: speculative sampling as Leviathan et al. (arXiv
 * 2211.17192) describe it. Of a draft model that is close to the target most is accepted at any temperature, where the
 * most probable tokens (draftModel.ts) are accepted less the hotter it gets. The text depends on the drafts then.
 */
export class DrawnDraftModelDrafter implements Drafter {
  readonly name = 'drawnDraftModel';
  readonly #parts: DraftModelParts;
  readonly #options: DrawnDraftModelOptions;
  readonly #sampler: DraftSampler;
  readonly #sequences: DraftModelSequences;
  /** Share of drafted tokens that are accepted once the token before them is. */
  #rate = FIRST_RATE;

  constructor(parts: DraftModelParts, options: DrawnDraftModelOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#sampler = new DraftSampler(options.sampling);
    this.#sequences = new DraftModelSequences(parts.model, parts.target.contextLength, 'logits');
  }

  get bytes(): number {
    return this.#parts.model.info.weightBytes + this.#sequences.bytes;
  }

  propose(view: SessionView, budget: number, { signal }: ProposalLimits = {}): Promise<Proposal> {
    return this.#sequences.draft(view.tokens, signal, (sequence, window, deepest) =>
      this.#draft(sequence, window, { levels: Math.min(budget, deepest), signal }),
    );
  }

  /** What was accepted of the sequence shows in the tokens of the next proposal. */
  observe({ tree, accepted }: Verdict): void {
    for (const _ of accepted) this.#rate += FOLLOW * (1 - this.#rate);
    if (accepted.length < tree.size) this.#rate -= FOLLOW * this.#rate;
  }

  dispose(): void {
    this.#sequences.dispose();
  }

  async #draft(
    sequence: DraftModelSequence,
    tokens: Int32Array,
    { levels, signal }: DraftLimits,
  ): Promise<Proposal> {
    const rule = this.#depthRule();
    const builder = new TokenTreeBuilder();
    // Made before the tokens are known: nothing may be cut for what it turns out to be.
    const logProb = Math.log(this.#rate);
    let drafted: DraftedToken | undefined;
    for (let depth = 1, parent = ROOT; depth <= levels && !signal?.aborted; depth++) {
      const output = await (drafted ? sequence.extend([drafted]) : sequence.follow(tokens));
      if (output === 'catchingUp') return catchingUp;
      if (output === 'unknownToken') break;
      const { tokens: drawn, draftProbs } = this.#sampler.draw(this.#inTargetVocabulary(output.logits!), 1);
      parent = builder.addDrawn(parent, drawn[0], logProb, 'draftModel', draftProbs);
      drafted = { token: drawn[0], parent: drafted };
      if (!rule.another({ depth, frontier: [depth * logProb], context: tokens.length })) break;
    }
    return builder.build(levels);
  }

  #depthRule(): DepthRule {
    const { numSteps } = this.#options;
    return numSteps === undefined ? new DepthByCost(this.#parts.costs) : fixedDepth(numSteps);
  }

  /** Tokens that one of the two does not know are not drafted. */
  #inTargetVocabulary(logits: Float32Array): Float32Array {
    const { vocabSize } = this.#parts.target;
    const fitted = new Float32Array(vocabSize).fill(Number.NEGATIVE_INFINITY);
    fitted.set(logits.subarray(0, vocabSize));
    return fitted;
  }
}
