import { elapsedMs } from '../engine/bench/micro/timing.ts';

const TRIES = 5;

/** What work takes, as far as that can be said beside other tests: they make some of the tries slower, and none faster. */
export function leastMs(work: () => void): number {
  return Math.min(...Array.from({ length: TRIES }, () => elapsedMs(work)));
}
