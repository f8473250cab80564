import { shuffle } from 'simple-statistics';
import { median } from '../../benchmark/statistics.ts';
import { passMs } from '../../model/costTable.ts';
import type { ForwardBatch } from '../../model/languageModel.ts';
import { seededRandom } from '../../seededRandom.ts';
import { ROOT } from '../../tree/tokenTree.ts';
import type { Figure } from '../report.ts';
import type { MicroBench } from './microBench.ts';
import { filledCache, realTokens } from './realTokens.ts';
import { elapsedMsAsync, OTHER_WORK_MS } from './timing.ts';

const CONTEXTS = [128, 512, 1500];
const NEW_TOKENS = [1, 2, 4, 8, 16];
const WARM_UP_ROUNDS = 3;
const WARM_ROUNDS = 30;
const COLD_ROUNDS = 12;
/** As a session leaves behind its prompt: a pass attends to it too. */
const SPACE = 64;

/** A pass of the target over some new tokens; medians. */
export interface PassTime {
  readonly context: number;
  readonly newTokens: number;
  /** Right after another pass. */
  readonly warmMs: number;
  /** First after other work: where a suggestion begins. */
  readonly coldMs: number;
  /** What the controller assumes before it has seen a pass. */
  readonly tableMs: number;
}

/** What verifying costs: the curve that decides how much drafting can gain. */
export async function measurePasses(bench: MicroBench): Promise<PassTime[]> {
  const times: PassTime[] = [];
  for (const context of CONTEXTS) times.push(...(await passesAt(bench, context)));
  return times;
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

async function passesAt(bench: MicroBench, context: number): Promise<PassTime[]> {
  const { runtime, otherWork, seed } = bench;
  const tokens = realTokens(bench, context + Math.max(...NEW_TOKENS));
  const kv = await filledCache(bench, tokens.slice(0, context), SPACE);
  const batches = new Map(NEW_TOKENS.map((size) => [size, batch(tokens.slice(context, context + size))]));
  const random = seededRandom(seed);
  /** Every size in turn, in another order each round, so that no size always follows the same one. */
  const rounds = async (count: number, before: () => void) => {
    const timesMs = new Map(NEW_TOKENS.map((size) => [size, [] as number[]]));
    for (let round = 0; round < count; round++) {
      for (const size of shuffle(NEW_TOKENS, random)) {
        before();
        timesMs.get(size)!.push(await elapsedMsAsync(() => kv.forward(batches.get(size)!)));
      }
    }
    return timesMs;
  };
  await rounds(WARM_UP_ROUNDS, () => {});
  const warm = await rounds(WARM_ROUNDS, () => {});
  const cold = await rounds(COLD_ROUNDS, () => otherWork.run(OTHER_WORK_MS));
  kv.dispose();
  return NEW_TOKENS.map((newTokens) => ({
    context,
    newTokens,
    warmMs: median(warm.get(newTokens)!),
    coldMs: median(cold.get(newTokens)!),
    tableMs: passMs(runtime.costTable, newTokens, context),
  }));
}

function batch(tokens: Int32Array): ForwardBatch {
  const rows = tokens.map((_, row) => row);
  return { tokens, parents: draftShape(tokens.length), rows, want: 'argmax' };
}
