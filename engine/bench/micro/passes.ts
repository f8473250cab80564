import { shuffle } from 'simple-statistics';
import { median } from '../../benchmark/statistics.ts';
import { type CostTable, passMs } from '../../model/costTable.ts';
import type { ForwardBatch, KvCache } from '../../model/languageModel.ts';
import { type Random, seededRandom } from '../../seededRandom.ts';
import { ROOT } from '../../tree/tokenTree.ts';
import type { Figure } from '../report.ts';
import type { MicroBench } from './microBench.ts';
import { filledCache, realTokens } from './realTokens.ts';
import { elapsedMsAsync, OTHER_WORK_MS } from './timing.ts';

const CONTEXTS = [128, 512, 1500];
const NEW_TOKENS = [1, 2, 4, 8, 16];
const WARM_UP_ROUNDS = 3;
const WARM_ROUNDS = 20;
/** Passes of one size in succession, of which the last is timed: plain decoding has no others. */
const STRETCH = 4;
const COLD_ROUNDS = 12;
/** As a session leaves behind its prompt: a pass attends to it too. */
const SPACE = 64;

/** A pass of the target over some new tokens; medians. */
export interface PassTime {
  readonly context: number;
  readonly newTokens: number;
  /** Right after others of its size. */
  readonly warmMs: number;
  /** First after other work: where a suggestion begins. */
  readonly coldMs: number;
  /** What the controller assumes before it has seen a pass. */
  readonly tableMs: number;
}

/** What verifying costs: the curve that decides how much drafting can gain. */
export async function measurePasses(bench: MicroBench): Promise<PassTime[]> {
  const random = seededRandom(bench.seed);
  const places: Place[] = [];
  for (const context of CONTEXTS) places.push(await openPlace(bench, context));
  await eachInTurn(places, random, WARM_UP_ROUNDS, runPass);
  await eachInTurn(places, random, WARM_ROUNDS, async (place, newTokens) => {
    place.warmMs.get(newTokens)!.push(await runStretch(place, newTokens));
  });
  await eachInTurn(places, random, COLD_ROUNDS, async (place, newTokens) => {
    bench.otherWork.run(OTHER_WORK_MS);
    place.coldMs.get(newTokens)!.push(await runPass(place, newTokens));
  });
  for (const { kv } of places) kv.dispose();
  return places.flatMap((place) => timesAt(place, bench.runtime.costTable));
}

export function passFigures(times: readonly PassTime[]): Figure[] {
  return times.map((time) => {
    const { context, newTokens, warmMs, coldMs, tableMs } = time;
    const one = times.find((other) => other.context === context && other.newTokens === 1)!;
    const ratio = (ms: number, oneMs: number) => `${(ms / oneMs).toFixed(2)}x`;
    const table = `cost table ${tableMs.toFixed(2)}`;
    const cold = `after other work ${coldMs.toFixed(2)}`;
    const isOne = time === one;
    return {
      name: `pass, T = ${newTokens} after ${context}`,
      unit: 'ms',
      measured: warmMs,
      ...(!isOne && { baseline: { name: 'T = 1', measured: one.warmMs } }),
      remark: isOne
        ? `${cold}; ${table}`
        : `${ratio(warmMs, one.warmMs)}; ${cold}, ${ratio(coldMs, one.coldMs)}; ${table}`,
    };
  });
}

/**
 * The shape that drafts have where they pay: the last committed token, and after it two alternatives a level, of which the
 * first goes on. No deeper than what comes out exactly as it does token by token.
 *
 * @returns parents // [size]
 */
export function draftShape(size: number): Int32Array {
  return Int32Array.from({ length: size }, (_, node) =>
    node === 0 ? ROOT : Math.max(0, node - 3 + (node % 2)),
  );
}

/** A context to evaluate tokens after, and how long that took. */
interface Place {
  readonly context: number;
  readonly kv: KvCache;
  readonly following: Int32Array;
  readonly warmMs: ReadonlyMap<number, number[]>;
  readonly coldMs: ReadonlyMap<number, number[]>;
}

async function openPlace(bench: MicroBench, context: number): Promise<Place> {
  const tokens = realTokens(bench, context + Math.max(...NEW_TOKENS));
  const kv = await filledCache(bench, tokens.slice(0, context), SPACE);
  const noTimes = () => new Map(NEW_TOKENS.map((size) => [size, [] as number[]]));
  return { context, kv, following: tokens.slice(context), warmMs: noTimes(), coldMs: noTimes() };
}

/** Every size after every context, in another order each round, so that what disturbs the machine disturbs all. */
async function eachInTurn(
  places: readonly Place[],
  random: Random,
  rounds: number,
  work: (place: Place, newTokens: number) => Promise<unknown>,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const place of shuffle([...places], random)) {
      // Brings the rows back that the other places' have driven from the caches.
      await runPass(place, 1);
      for (const newTokens of shuffle(NEW_TOKENS, random)) await work(place, newTokens);
    }
  }
}

/** @returns ms of the last pass */
async function runStretch(place: Place, newTokens: number): Promise<number> {
  for (let pass = 1; pass < STRETCH; pass++) await runPass(place, newTokens);
  return runPass(place, newTokens);
}

/** @returns ms */
function runPass({ kv, following }: Place, newTokens: number): Promise<number> {
  const tokens = following.slice(0, newTokens);
  const rows = tokens.map((_, row) => row);
  const batch: ForwardBatch = { tokens, parents: draftShape(newTokens), rows, want: 'argmax' };
  return elapsedMsAsync(() => kv.forward(batch));
}

function timesAt({ context, warmMs, coldMs }: Place, costTable: CostTable): PassTime[] {
  return NEW_TOKENS.map((newTokens) => ({
    context,
    newTokens,
    warmMs: median(warmMs.get(newTokens)!),
    coldMs: median(coldMs.get(newTokens)!),
    tableMs: passMs(costTable, newTokens, context),
  }));
}
