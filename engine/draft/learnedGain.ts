import type { CostModel } from '../decode/costModel.ts';
import { chooseNodes, type DraftPlace } from '../decode/draftChoice.ts';
import { ROOT, type TokenTree } from '../tree/tokenTree.ts';
import { LevelTimes } from './levelTimes.ts';

/** Levels that a learned drafter is asked for at most: deeper ones have not paid. */
const DEEPEST = 8;
/** Lower ends of the kinds of context: how sure of the next token the free sources are together. */
const KINDS = [0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9];
/** Weight of the newest step in what is remembered of a kind, once there are several. */
const SMOOTHING = 0.1;
/** What a level is assumed to be worth before any was drafted, and how many steps that counts for. */
const FIRST_GUESS = 0.65;
const FIRST_STEPS = 2;
/** Share of the time that may go into asking where it has not paid, to see whether it does by now. */
const PROBE_SHARE = 0.01;

/** What a tree is expected to yield at each level: the sum of c(v) over the level. */
export type LevelMasses = Float64Array; // [DEEPEST]

interface Kind {
  /** With the learned drafter. */
  readonly masses: LevelMasses;
  /** What came of it over what the masses promised: a level's mass is spread over several nodes. */
  yield: number;
  steps: number;
}

/**
 * Whether a learned drafter is worth its time in this step, and how deep: the best rate of the free drafts is known; that
 * with it is expected from what it added in contexts of the same kind, and from what its runs take.
 */
export class LearnedGain {
  readonly #costs: CostModel;
  readonly #time = new LevelTimes();
  readonly #kinds: readonly Kind[];
  #credit = 0;

  constructor(costs: CostModel) {
    this.#costs = costs;
    this.#kinds = KINDS.map(() => ({
      masses: Float64Array.from({ length: DEEPEST }, (_, i) => FIRST_GUESS ** (i + 1)),
      yield: 1,
      steps: FIRST_STEPS,
    }));
  }

  /**
   * @param free what is drafted without it
   * @param freeRate expected tokens a millisecond of that
   * @param place with what drafting has cost so far
   * @returns levels to draft; 0: it does not pay
   */
  levels(free: LevelMasses, freeRate: number, place: DraftPlace): number {
    const best = this.#best(free, place);
    if (best.rate > freeRate) return best.levels;
    return this.#mayProbe(best.levels, place) ? best.levels : 0;
  }

  /**
   * @param rate expected tokens a millisecond with what was drafted, `ms` included
   * @param ms what the learned drafter took
   */
  observe(
    free: LevelMasses,
    merged: LevelMasses,
    { levels, ms, rate }: { readonly levels: number; readonly ms: number; readonly rate: number },
    place: DraftPlace,
  ): void {
    this.#time.observe(levels, ms);
    const kind = this.#kindOf(free);
    const promised = this.#rate(free, merged, levels, { ...place, draftMs: place.draftMs + ms });
    const weight = Math.max(SMOOTHING, 1 / ++kind.steps);
    kind.yield += weight * (rate / promised - kind.yield);
    for (let i = 0; i < levels; i++) kind.masses[i] += weight * (merged[i] - kind.masses[i]);
  }

  #kindOf(free: LevelMasses): Kind {
    return this.#kinds[KINDS.findLastIndex((least) => free[0] >= least)];
  }

  #best(free: LevelMasses, place: DraftPlace): { levels: number; rate: number } {
    const { masses, yield: share } = this.#kindOf(free);
    let best = { levels: 1, rate: 0 };
    for (let levels = 1; levels <= DEEPEST; levels++) {
      const draftMs = place.draftMs + this.#time.ms(levels);
      const rate = share * this.#rate(free, masses, levels, { ...place, draftMs });
      if (rate > best.rate) best = { levels, rate };
    }
    return best;
  }

  /** As if each level's mass were one node's. */
  #rate(free: LevelMasses, masses: LevelMasses, levels: number, place: DraftPlace): number {
    const chain = free.map((mass, i) => (i < levels ? Math.max(mass, masses[i]) : mass));
    return chooseNodes(this.#costs, chain.sort().reverse(), place).rate;
  }

  #mayProbe(levels: number, { context, pending }: DraftPlace): boolean {
    this.#credit += PROBE_SHARE * this.#costs.passMs(pending, context);
    const ms = this.#time.ms(levels);
    if (this.#credit < ms) return false;
    this.#credit = 0;
    return true;
  }
}

/** The sum of c(v) over each level of a tree: at most 1 but for what the estimates are wrong by. */
export function levelMasses({ parents, logProbs, size }: TokenTree): LevelMasses {
  const masses = new Float64Array(DEEPEST);
  const levels = new Int32Array(size);
  for (let node = 0; node < size; node++) {
    const level = parents[node] === ROOT ? 0 : levels[parents[node]] + 1;
    levels[node] = level;
    if (level < DEEPEST) masses[level] = Math.min(1, masses[level] + Math.exp(logProbs[node]));
  }
  return masses;
}
