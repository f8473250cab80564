import type { MedusaPrediction } from '../model/medusaHeads.ts';
import { ROOT, type TokenTree } from '../tree/tokenTree.ts';
import { TokenTreeBuilder } from '../tree/tokenTreeBuilder.ts';
import type { Drafter, SessionView } from './drafter.ts';
import { type MedusaTree, type TreeChoice, treeChoices } from './medusaTrees.ts';
import { catchingUp, type Proposal } from './proposal.ts';

export interface MedusaDrafterOptions {
  /** Levels of the tree at most, one a head. Absent: as many as there are heads. */
  readonly numSteps?: number | undefined;
  /** Candidates of each head that may enter the tree. Absent: all that the heads list. */
  readonly topk?: number | undefined;
  /** Nodes of the tree at most. */
  readonly numDraftTokens?: number | undefined;
  /** A published tree instead of one that is made of the step's own probabilities. */
  readonly tree?: MedusaTree | undefined;
}

/** What the drafter needs of `MedusaHeads`. */
export interface MedusaPredictor {
  readonly bytes: number;
  predict(feature: Float32Array): Promise<MedusaPrediction>;
}

/** How much of a prediction may be used. */
interface Limits {
  readonly levels: number;
  readonly candidates: number;
  readonly nodes: number;
}

/**
 * Heads on the target's newest hidden state guess the tokens after the next one, all in one run (Medusa, arXiv
 * 2401.10774). A path's estimate is the product of what its heads say: they do not know of each other's choices.
 *
 * Medusa's typical acceptance takes tokens that the target would not have written and is not offered.
 */
export class MedusaDrafter implements Drafter {
  readonly name = 'medusa';
  readonly #heads: MedusaPredictor;
  readonly #options: MedusaDrafterOptions;

  /** @param heads by their opener disposed */
  constructor(heads: MedusaPredictor, options: MedusaDrafterOptions = {}) {
    this.#heads = heads;
    this.#options = options;
  }

  get bytes(): number {
    return this.#heads.bytes;
  }

  /** Catches up where more than the last token is pending: the state before it is not known then. */
  async propose({ tokens, hidden }: SessionView, budget: number): Promise<Proposal> {
    const newest = tokens.length - 2;
    if (newest < 0 || hidden.length <= newest) return catchingUp;
    const prediction = await this.#heads.predict(hidden.slice(newest, newest + 1));
    const { tree, numSteps = Infinity, topk = Infinity, numDraftTokens = Infinity } = this.#options;
    const { candidates, tokens: predicted } = prediction;
    const limits = {
      levels: Math.min(numSteps, predicted.length / candidates),
      candidates: Math.min(topk, candidates),
      nodes: Math.min(budget, numDraftTokens),
    };
    return tree ? publishedTree(prediction, treeChoices(tree), limits) : likeliestTree(prediction, limits);
  }

  /** Nothing is learned from what was accepted. */
  observe(): void {}

  dispose(): void {}
}

function publishedTree(
  { candidates, tokens, logProbs }: MedusaPrediction,
  choices: readonly TreeChoice[],
  limits: Limits,
): TokenTree {
  const builder = new TokenTreeBuilder();
  const nodes = new Map<number, number>([[ROOT, ROOT]]);
  for (const [choice, { parent, head, rank }] of choices.entries()) {
    const node = nodes.get(parent);
    if (node === undefined || head >= limits.levels || rank >= limits.candidates) continue;
    const i = head * candidates + rank;
    nodes.set(choice, builder.add(node, tokens[i], logProbs[i], 'medusa'));
  }
  return builder.build(limits.nodes);
}

/** A node that may be added: the candidate `rank` of its level's head, below `parent`. */
interface Addition {
  readonly parent: number;
  readonly parentLogProb: number;
  readonly head: number;
  readonly rank: number;
  readonly pathLogProb: number;
}

/** The nodes of largest path probability: whenever one is added, its next sibling and its first child come into question. */
function likeliestTree({ candidates, tokens, logProbs }: MedusaPrediction, limits: Limits): TokenTree {
  const builder = new TokenTreeBuilder();
  const open: Addition[] = [];
  const offer = (parent: number, parentLogProb: number, head: number, rank: number) => {
    if (head >= limits.levels || rank >= limits.candidates) return;
    const pathLogProb = parentLogProb + logProbs[head * candidates + rank];
    open.push({ parent, parentLogProb, head, rank, pathLogProb });
  };
  offer(ROOT, 0, 0, 0);
  while (builder.size < limits.nodes && open.length > 0) {
    const { parent, parentLogProb, head, rank, pathLogProb } = takeLikeliest(open);
    const i = head * candidates + rank;
    const node = builder.add(parent, tokens[i], logProbs[i], 'medusa');
    offer(parent, parentLogProb, head, rank + 1);
    offer(node, pathLogProb, head + 1, 0);
  }
  return builder.build(limits.nodes);
}

function takeLikeliest(open: Addition[]): Addition {
  let best = 0;
  for (let i = 1; i < open.length; i++) if (open[i].pathLogProb > open[best].pathLogProb) best = i;
  return open.splice(best, 1)[0];
}
