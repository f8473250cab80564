import type { CostModel } from '../cost/costModel.ts';
import { chooseNodes, type DraftPlace, sortedProbabilities } from '../cost/draftChoice.ts';
import type { DraftTemperature } from '../cost/draftTemperature.ts';
import { takeMostProbable } from '../tree/subtrees.ts';
import type { TokenTree } from '../tree/tokenTree.ts';

/** What the decoder asks each step: how much to draft, and how much of it to verify. */
export interface DraftController {
  /** Nodes to ask the drafter for; 0 leaves it out of this step. */
  budget(): number;
  /** The part of the tree worth verifying. */
  choose(tree: TokenTree, place: DraftPlace): TokenTree;
  observe(step: StepOutcome): void;
}

export interface StepOutcome {
  /** Committed tokens before the step. */
  readonly context: number;
  /** Tokens that the pass evaluated. */
  readonly nodes: number;
  /** What of the draft was among them. */
  readonly tree: TokenTree;
  readonly accepted: number;
  /** What the drafter did before the pass: only from its drafts does it show what they are worth. */
  readonly drafting: 'drafted' | 'catchingUp' | 'notAsked';
  readonly draftMs: number;
  /** Of the pass and what it commits. Drawing is left out: it takes the same for each token, whatever was drafted. */
  readonly passMs: number;
}

/** Drafts a fixed number of tokens, paying or not: what a user who sets the number asks for. */
export function fixedController(nodes: number): DraftController {
  return {
    budget: () => nodes,
    choose: (tree) => takeMostProbable(tree, nodes),
    observe: () => {},
  };
}

/** Larger trees have not paid on any machine measured. */
const LARGEST_TREE = 32;
/** Share of plain decoding's time that drafts which come to nothing may cost. */
const IDLE_DRAFT_SHARE = 0.005;
/**
 * So many useless steps in a row make the next pause a step longer. Pausing after each one costs what the next drafts
 * would have been right with: measured, 9 % of the speed.
 */
const PATIENCE = 6;
/** After useless steps the drafter is asked again at the latest after this many. */
const LONGEST_PAUSE = 8;
const SMOOTHING = 0.2;

/**
 * Verifies what `chooseNodes` finds best by times measured on this machine. A drafter whose proposals come to nothing is
 * asked less often.
 */
export class CostController implements DraftController {
  readonly #costs: CostModel;
  #useless = 0;
  #pause = 0;
  #draftMs = 0;
  readonly #temperature: DraftTemperature | undefined;

  /**
   * @param costs learns from every pass; a drafter may share it
   * @param temperature of a drafter whose estimates follow no experience; learns from every draft, and is shared with it
   */
  constructor(costs: CostModel, temperature?: DraftTemperature) {
    this.#costs = costs;
    this.#temperature = temperature;
  }

  budget(): number {
    if (this.#pause > 0) {
      this.#pause--;
      return 0;
    }
    return LARGEST_TREE;
  }

  choose(tree: TokenTree, place: DraftPlace): TokenTree {
    const { nodes } = chooseNodes(this.#costs, sortedProbabilities(this.#acceptance(tree)), place);
    return takeMostProbable(tree, nodes);
  }

  observe({ context, nodes, tree, accepted, drafting, draftMs, passMs }: StepOutcome): void {
    this.#costs.observe(nodes, context, passMs);
    if (drafting !== 'drafted') return;
    this.#temperature?.observe(tree.logProbs, accepted);
    this.#draftMs += SMOOTHING * (draftMs - this.#draftMs);
    this.#useless = accepted > 0 ? 0 : this.#useless + 1;
    const affordable = Math.ceil(this.#draftMs / (IDLE_DRAFT_SHARE * passMs)) - 1;
    this.#pause = Math.min(LONGEST_PAUSE, affordable, Math.floor(this.#useless / PATIENCE));
  }

  /** log c(v) */
  #acceptance({ logProbs }: TokenTree): Float32Array {
    const temperature = this.#temperature;
    return temperature ? logProbs.map((logProb) => temperature.accepted(logProb)) : logProbs;
  }
}
