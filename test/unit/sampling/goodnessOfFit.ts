/** Fewest expected observations of a cell; below that chi-square's approximation is poor (Cochran 1954). */
const SMALLEST_CELL = 5;

/**
 * How badly counts fit a distribution: Pearson's chi-square, brought to a standard normal deviation by Wilson and
 * Hilferty (1931), so that one limit serves for any number of cells. Draws from the distribution itself give more
 * than 4 once in 30,000 times.
 *
 * @param counts observations by cell
 * @param probs of the same cells, summing to 1
 */
export function misfit(counts: readonly number[], probs: readonly number[]): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const cells = pooled(counts.map((count, i) => ({ count, expected: total * probs[i] })));
  const freedom = cells.length - 1;
  const chiSquare = cells.reduce((sum, { count, expected }) => sum + (count - expected) ** 2 / expected, 0);
  const variance = 2 / (9 * freedom);
  return (Math.cbrt(chiSquare / freedom) - 1 + variance) / Math.sqrt(variance);
}

interface Cell {
  readonly count: number;
  readonly expected: number;
}

/** Small cells together make one. Observations of what is impossible stay in it, and count. */
function pooled(cells: readonly Cell[]): Cell[] {
  const large = cells.filter(({ expected }) => expected >= SMALLEST_CELL);
  const small = cells.filter(({ expected }) => expected < SMALLEST_CELL);
  const rest = small.reduce((a, b) => ({ count: a.count + b.count, expected: a.expected + b.expected }), {
    count: 0,
    expected: 0,
  });
  if (rest.count === 0 && rest.expected < SMALLEST_CELL) return large;
  return [...large, { ...rest, expected: Math.max(rest.expected, 1e-9) }];
}
