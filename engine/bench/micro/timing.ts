import { median } from '../../benchmark/statistics.ts';

/** How long other work lasts before something is timed: about the pause between two keystrokes that matters to caches. */
export const OTHER_WORK_MS = 30;

const SAMPLES = 201;
/** A sample this long is exact to a percent, whatever reading the clock costs. */
const LEAST_SAMPLE_MS = 0.1;
const CLOCK_STEP_MS = 1e-4;
const WARM_UP_MS = 10;
const WARM_UP_RUNS = 20;

/**
 * Time of work that is too short to be timed alone: the median of samples, each of as many runs as a readable time takes.
 *
 * @param work the same each time
 * @returns ms a run
 */
export function shortMs(work: () => void): number {
  const runs = runsPerSample(work);
  return median(Array.from({ length: SAMPLES }, () => elapsedMs(repeat(work, runs)) / runs));
}

export function elapsedMs(work: () => void): number {
  const startedMs = performance.now();
  work();
  return performance.now() - startedMs;
}

export async function elapsedMsAsync(work: () => unknown): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

/** By its least time while it warms up: what interrupts a run says nothing about it. */
function runsPerSample(work: () => void): number {
  let leastMs = LEAST_SAMPLE_MS;
  const end = performance.now() + WARM_UP_MS;
  for (let run = 0; run < WARM_UP_RUNS || performance.now() < end; run++) {
    leastMs = Math.min(leastMs, elapsedMs(work));
  }
  return Math.ceil(LEAST_SAMPLE_MS / Math.max(leastMs, CLOCK_STEP_MS));
}

function repeat(work: () => void, runs: number): () => void {
  return () => {
    for (let run = 0; run < runs; run++) work();
  };
}

export const microseconds = (ms: number) => 1000 * ms;

/** "1.3 % of a pass": what it is worth to make something faster. */
export function shareText(ms: number, passMs: number): string {
  return `${((100 * ms) / passMs).toPrecision(2)} % of a pass`;
}
