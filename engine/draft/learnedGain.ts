import type { CostModel } from '../cost/costModel.ts';
import { chooseNodes, type DraftPlace } from '../cost/draftChoice.ts';
import type { TokenTree } from '../tree/tokenTree.ts';
import { nodeDepths } from '../tree/treeShape.ts';
import { LevelTimes } from './levelTimes.ts';

/** Levels that a learned drafter is asked for at most: deeper ones have not paid. */
const DEEPEST = 8;
/** Lower ends of the kinds of context: how sure of the next token the free sources are together. */
const KINDS = [0, 0.3, 0.6, 0.85];
/** Weight of the newest step in what is remembered. */
const SMOOTHING = 0.1;
/** What a learned drafter is assumed to hit at a level, of what it hit at the level before, where it was never seen. */
const FIRST_GUESS = 0.65;
/** Steps that an assumption weighs as much as. */
const ASSUMED_STEPS = 4;
/** What is only just better on paper is not: the best of several estimates is one that is too high. */
const CLEARLY = 1.02;
/** Part of a pass of the target that a level is assumed to take before any run. */
const FIRST_LEVEL = 0.15;
/** Share of the time that may go into asking where it has not paid, to see whether it does by now. */
const PROBE_SHARE = 0.005;

/** What a tree is expected to yield at each level: the sum of c(v) over the level. */
export type LevelMasses = Float64Array; // [DEEPEST]

/**
 * Whether a learned drafter is worth its time in this step, and how deep: the best rate of the free drafts is known; that
 * with it is expected from what it added in such contexts, and from what its runs take.
 */
export class LearnedGain {
  readonly #costs: CostModel;
  readonly #time = new LevelTimes();
  readonly #all = new Gains();
  readonly #kinds: readonly Gains[] = KINDS.map(() => new Gains());
  /** Time to spend on probes; what the last one took too much of is paid back first. */
  #creditMs = 0;
  #isProbe = false;

  constructor(costs: CostModel) {
    this.#costs = costs;
  }

  /**
   * @param free what is drafted without it
   * @param freeRate expected tokens a millisecond of that
   * @param place with what drafting has cost so far
   * @returns levels to draft; 0: it does not pay
   */
  levels(free: LevelMasses, freeRate: number, place: DraftPlace): number {
    const best = this.#best(free, place);
    const pays = best.rate > CLEARLY * freeRate;
    this.#isProbe = !pays && this.#mayProbe(best.levels, place);
    return pays || this.#isProbe ? best.levels : 0;
  }

  /** What asking took, whatever came of it: a probe is paid for out of its share also where it only caught up. */
  spent(ms: number): void {
    if (this.#isProbe) this.#creditMs -= ms;
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
    const promised = this.#rate(merged, { ...place, draftMs: place.draftMs + ms });
    for (const gains of [this.#all, this.#kindOf(free)]) gains.observe(free, merged, levels, rate / promised);
  }

  #kindOf(free: LevelMasses): Gains {
    return this.#kinds[KINDS.findLastIndex((least) => free[0] >= least)];
  }

  #best(free: LevelMasses, place: DraftPlace): { levels: number; rate: number } {
    const gains = this.#expectedGains(this.#kindOf(free));
    const masses = free.slice();
    let best = { levels: 1, rate: 0 };
    for (let levels = 1; levels <= DEEPEST; levels++) {
      const i = levels - 1;
      masses[i] = free[i] + (1 - free[i]) * gains.levels[i];
      const draftMs = place.draftMs + this.#levelsMs(levels, place);
      const rate = gains.yield * this.#rate(masses, { ...place, draftMs });
      if (rate > best.rate) best = { levels, rate };
    }
    return best;
  }

  /** What is not known of the kind is taken from all kinds, and of a level from the one before. */
  #expectedGains(kind: Gains): { levels: Float64Array; yield: number } {
    const all = new Float64Array(DEEPEST);
    const own = new Float64Array(DEEPEST);
    for (let i = 0; i < DEEPEST; i++) {
      const assumed = i === 0 ? FIRST_GUESS : all[i - 1] * Math.max(FIRST_GUESS, all[0]);
      all[i] = this.#all.at(i, assumed);
      own[i] = kind.at(i, all[i]);
    }
    return { levels: own, yield: kind.steps > 0 ? kind.yield : this.#all.yield };
  }

  /** As if each level's mass were one node's. */
  #rate(masses: LevelMasses, place: DraftPlace): number {
    return chooseNodes(this.#costs, masses.slice().sort().reverse(), place).rate;
  }

  /** Before any run nothing is known of it. */
  #levelsMs(levels: number, { context }: DraftPlace): number {
    return this.#time.ms(levels) || FIRST_LEVEL * levels * this.#costs.passMs(1, context);
  }

  #mayProbe(levels: number, place: DraftPlace): boolean {
    this.#creditMs += PROBE_SHARE * this.#costs.passMs(place.pending, place.context);
    return this.#creditMs >= this.#levelsMs(levels, place);
  }
}

/** What is missed of less than this is rounding. */
const LEAST_MISSED = 0.02;

/** What a learned drafter added. */
class Gains {
  /** Of what the free sources had missed at each level, the part that it hit. */
  readonly #levels = new Float64Array(DEEPEST);
  /** Steps that say something about a level, up to what is remembered. */
  readonly #known = new Float64Array(DEEPEST);
  /** What came of it over what the masses promised: a level's mass is spread over several nodes. */
  yield = 1;
  steps = 0;

  at(level: number, assumed: number): number {
    const known = this.#known[level];
    return (known * this.#levels[level] + ASSUMED_STEPS * assumed) / (known + ASSUMED_STEPS);
  }

  observe(free: LevelMasses, merged: LevelMasses, levels: number, yielded: number): void {
    this.yield += Math.max(SMOOTHING, 1 / ++this.steps) * (yielded - this.yield);
    for (let i = 0; i < levels; i++) this.#observeLevel(i, free[i], merged[i]);
  }

  /** A step on the squared error, so that a level at which little was missed says little. */
  #observeLevel(level: number, free: number, merged: number): void {
    const missed = 1 - free;
    if (missed < LEAST_MISSED) return;
    this.#known[level] = (1 - SMOOTHING) * this.#known[level] + missed;
    const weight = missed / Math.max(missed, this.#known[level]);
    this.#levels[level] += weight * ((merged - free) / missed - this.#levels[level]);
  }
}

/** The sum of c(v) over each level of a tree: at most 1 but for what the estimates are wrong by. */
export function levelMasses({ parents, logProbs }: TokenTree): LevelMasses {
  const masses = new Float64Array(DEEPEST);
  for (const [node, level] of nodeDepths(parents).entries()) {
    if (level < DEEPEST) masses[level] = Math.min(1, masses[level] + Math.exp(logProbs[node]));
  }
  return masses;
}
