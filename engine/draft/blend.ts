import type { CostModel } from '../cost/costModel.ts';
import { chooseNodes, type DraftPlace, sortedProbabilities } from '../cost/draftChoice.ts';
import { type DraftSource, emptyTree, type TokenTree } from '../tree/tokenTree.ts';
import type { Drafter, ProposalLimits, SessionView, Verdict } from './drafter.ts';
import { DraftSearch, leastProbability, type SearchLimits } from './draftSearch.ts';
import type { GuessSource, PathEnd } from './guess.ts';
import { LearnedGain, levelMasses } from './learnedGain.ts';
import { LearnedSource } from './learnedSource.ts';
import { type NgramParts, NgramSources } from './ngramSources.ts';
import { isCatchingUp, type Proposal, treeOf } from './proposal.ts';
import { RecycledSource } from './recycledSource.ts';
import type { ReliabilityBucket } from './reliability.ts';

/** A drafter whose own forward passes cost time. */
export interface LearnedPart {
  readonly drafter: Drafter;
  readonly source: DraftSource;
  /** Nodes that it is given for each level it is asked for: 1 for one that drafts chains. */
  readonly nodesPerLevel: number;
}

export interface BlendParts {
  readonly ngram: NgramParts;
  readonly learned?: LearnedPart | undefined;
  /** The one that the controller learns with. */
  readonly costs: CostModel;
  /** In ms, of any beginning. */
  readonly now?: () => number;
  readonly createSearch?: (sources: readonly GuessSource[]) => DraftSearch;
}

const realTime = () => performance.now();
const plainSearch = (sources: readonly GuessSource[]) => new DraftSearch(sources);

/** Rows that the cost of one is averaged over. */
const ROWS = 16;
/** Part of that which a node has to bring in: where the time of a pass has steps, some rows cost less. */
const LEAST_WORTH = 0.5;

/**
 * All drafters in one tree (docs/decisions/0030): what is free is searched together; the learned drafter runs only where it
 * is expected to pay for its time. Its tree hangs at the last committed token, and the free sources go on below it.
 */
export class BlendDrafter implements Drafter {
  readonly name = 'blend';
  readonly #ngram: NgramSources;
  readonly #recycled: RecycledSource;
  readonly #learned: Learned | undefined;
  readonly #search: DraftSearch;
  readonly #costs: CostModel;
  readonly #now: () => number;

  constructor({ ngram, learned, costs, now = realTime, createSearch = plainSearch }: BlendParts) {
    this.#ngram = new NgramSources(ngram);
    this.#recycled = new RecycledSource(ngram.vocabSize);
    this.#learned = learned && {
      ...learned,
      source: new LearnedSource(learned.source),
      gain: new LearnedGain(costs),
    };
    this.#search = createSearch([
      ...this.#ngram.all,
      this.#recycled,
      ...(this.#learned ? [this.#learned.source] : []),
    ]);
    this.#costs = costs;
    this.#now = now;
  }

  get bytes(): number {
    return this.#ngram.bytes + this.#recycled.bytes + (this.#learned?.drafter.bytes ?? 0);
  }

  get acceptedFrom(): ReadonlyMap<string, number> {
    return this.#ngram.acceptedFrom;
  }

  /** How far the estimates can be trusted. */
  get reliability(): readonly ReliabilityBucket[] {
    return this.#search.reliability;
  }

  propose(view: SessionView, budget: number, { signal }: ProposalLimits = {}): Proposal | Promise<Proposal> {
    const startedMs = this.#now();
    this.#ngram.follow(view);
    const text = this.#recycled.follow(view);
    const learned = this.#learned;
    if (learned) learned.source.tree = emptyTree;
    const target = { context: view.tokens.length, pending: view.tokens.length - view.hidden.length };
    const limits = { budget, leastProbability: this.#leastProbability(target) };
    const free = this.#search.draft(text, limits);
    if (!learned) return free;
    const place: DraftPlace = { ...target, draftMs: this.#now() - startedMs };
    const levels = Math.min(budget, learned.gain.levels(levelMasses(free), this.#rate(free, place), place));
    return levels === 0
      ? free
      : this.#withLearned(learned, view, text, { free, place, levels, limits, signal });
  }

  observe(verdict: Verdict): void {
    this.#search.learn(verdict);
    this.#recycled.refresh(verdict);
    this.#learned?.drafter.observe(verdict);
  }

  dispose(): void {
    this.#learned?.drafter.dispose();
  }

  async #withLearned(
    { drafter, source, gain, nodesPerLevel }: Learned,
    view: SessionView,
    text: PathEnd,
    { free, place, levels, limits, signal }: FreeDraft,
  ): Promise<Proposal> {
    const startedMs = this.#now();
    const nodes = Math.min(limits.budget, levels * nodesPerLevel);
    const proposal = await drafter.propose(view, nodes, { levels, signal });
    const drafted = treeOf(proposal);
    // Where it has to catch up with the session first, or is called off, that says nothing about what it gains.
    if (drafted.size === 0 || signal?.aborted) {
      gain.spent(this.#now() - startedMs);
      return isCatchingUp(proposal) ? { meanwhile: free } : free;
    }
    source.tree = drafted;
    const merged = this.#search.draft(text, limits);
    const ms = this.#now() - startedMs;
    gain.spent(ms);
    const rate = this.#rate(merged, { ...place, draftMs: place.draftMs + ms });
    gain.observe(levelMasses(free), levelMasses(merged), { levels, ms, rate }, place);
    return merged;
  }

  /** Of a path whose last node may be worth its row. */
  #leastProbability({ context, pending }: Omit<DraftPlace, 'draftMs'>): number {
    const withoutMs = this.#costs.passMs(pending, context);
    const rowMs = this.#costs.rowMs(pending, context, ROWS);
    return Math.max(leastProbability, (LEAST_WORTH * rowMs) / withoutMs);
  }

  #rate({ logProbs }: TokenTree, place: DraftPlace): number {
    return chooseNodes(this.#costs, sortedProbabilities(logProbs), place).rate;
  }
}

interface Learned extends Omit<LearnedPart, 'source'> {
  readonly source: LearnedSource;
  readonly gain: LearnedGain;
}

interface FreeDraft {
  readonly free: TokenTree;
  readonly place: DraftPlace;
  readonly levels: number;
  readonly limits: SearchLimits;
  readonly signal: AbortSignal | undefined;
}
