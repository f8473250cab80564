import { shuffle } from 'simple-statistics';
import { median } from '../../benchmark/statistics.ts';
import { seededRandom } from '../../seededRandom.ts';
import { chainParents } from '../../tree/treeMask.ts';
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
  const short = await rowTimes(bench, SHORT);
  const long = await rowTimes(bench, LONG);
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

async function rowTimes(bench: MicroBench, context: number): Promise<RowTime[]> {
  const tokens = realTokens(bench, context + DRAFTED);
  const drafted = tokens.slice(context);
  const kv = await filledCache(bench, tokens.slice(0, context), SPACE);
  const random = seededRandom(bench.seed);
  const commits = new Map(ACCEPTED.map((count) => [count, [] as number[]]));
  const truncates = new Map(ACCEPTED.map((count) => [count, [] as number[]]));
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    for (const count of shuffle(ACCEPTED, random)) {
      const path = chainParents(count).map((_, row) => row);
      await kv.forward({ tokens: drafted, rows: drafted.map((_, row) => row), want: 'argmax' });
      const commitMs = await elapsedMsAsync(() => kv.commit(path));
      const truncateMs = await elapsedMsAsync(() => kv.truncate(context));
      if (round < WARM_UP_ROUNDS) continue;
      commits.get(count)!.push(commitMs);
      truncates.get(count)!.push(truncateMs);
    }
  }
  kv.dispose();
  return ACCEPTED.map((rows) => ({
    context,
    rows,
    commitMs: median(commits.get(rows)!),
    truncateMs: median(truncates.get(rows)!),
  }));
}
