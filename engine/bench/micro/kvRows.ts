import { shuffle } from 'simple-statistics';
import { median } from '../../benchmark/statistics.ts';
import type { KvCache } from '../../model/languageModel.ts';
import { type Random, seededRandom } from '../../seededRandom.ts';
import type { Figure } from '../report.ts';
import type { MicroBench, Subject } from './microBench.ts';
import { filledCache, realTokens } from './realTokens.ts';
import { elapsedMsAsync, microseconds, shareText } from './timing.ts';

/** Whole blocks of rows (cpuAttention): there, paths of 16 are exact and may be accepted. */
const SHORT = 128;
const LONG = 1504;
const ACCEPTED = [1, 4, 8, 16];
const DRAFTED = Math.max(...ACCEPTED);
const ROUNDS = 24;
const WARM_UP_ROUNDS = 4;
const SPACE = 64;

interface RowTime {
  readonly context: number;
  readonly rows: number;
  readonly commitMs: number;
  readonly truncateMs: number;
}

/** Commits what a pass left and takes it back. In a decoding step nothing may grow with the context (architecture, 5). */
export async function measureKvRows(bench: MicroBench, onePassMs: number): Promise<Subject> {
  const places = [await openPlace(bench, SHORT), await openPlace(bench, LONG)];
  const random = seededRandom(bench.seed);
  for (let round = 0; round < WARM_UP_ROUNDS; round++) await timeRound(places, random);
  const times: RowTime[] = [];
  for (let round = 0; round < ROUNDS; round++) times.push(...(await timeRound(places, random)));
  for (const { kv } of places) kv.dispose();
  const [short, long] = places.map(({ context }) => mediansAt(context, times));
  const figures = long.flatMap(({ rows, commitMs, truncateMs }, i): Figure[] => [
    {
      name: `commit ${rows} of ${DRAFTED} rows after ${LONG}`,
      unit: 'us',
      measured: microseconds(commitMs),
      baseline: { name: `after ${SHORT}`, measured: microseconds(short[i].commitMs) },
      remark: `${shareText(commitMs, onePassMs)}; taken back in ${microseconds(truncateMs).toFixed(1)} us`,
    },
  ]);
  return { figures, faults: [], details: [...short, ...long] };
}

interface Place {
  readonly context: number;
  readonly kv: KvCache;
  readonly drafted: Int32Array;
}

async function openPlace(bench: MicroBench, context: number): Promise<Place> {
  const tokens = realTokens(bench, context + DRAFTED);
  const kv = await filledCache(bench, tokens.slice(0, context), SPACE);
  return { context, kv, drafted: tokens.slice(context) };
}

/** Each number of rows in both places right after each other. */
async function timeRound(places: readonly Place[], random: Random): Promise<RowTime[]> {
  const times: RowTime[] = [];
  for (const rows of shuffle(ACCEPTED, random)) {
    for (const place of places) times.push(await timeRows(place, rows));
  }
  return times;
}

async function timeRows({ context, kv, drafted }: Place, rows: number): Promise<RowTime> {
  await kv.forward({ tokens: drafted, rows: drafted.map((_, row) => row), want: 'argmax' });
  const path = drafted.slice(0, rows).map((_, row) => row);
  const commitMs = await elapsedMsAsync(() => kv.commit(path));
  const truncateMs = await elapsedMsAsync(() => kv.truncate(context));
  return { context, rows, commitMs, truncateMs };
}

function mediansAt(context: number, times: readonly RowTime[]): RowTime[] {
  return ACCEPTED.map((rows) => {
    const own = times.filter((time) => time.context === context && time.rows === rows);
    const commitMs = median(own.map((time) => time.commitMs));
    return { context, rows, commitMs, truncateMs: median(own.map((time) => time.truncateMs)) };
  });
}
