const LONGEST_PERIOD = 16;
const LEAST_REPETITIONS = 3;

/** Whether the text ends in the same few tokens over and over. */
export function writesInCircles(tokens: readonly number[]): boolean {
  for (let period = 1; period <= LONGEST_PERIOD; period++) {
    const span = Math.max(LEAST_REPETITIONS * period, LONGEST_PERIOD);
    if (tokens.length < span + period) continue;
    const tail = tokens.slice(-span);
    const before = tokens.slice(-span - period, -period);
    if (tail.every((token, i) => token === before[i])) return true;
  }
  return false;
}
