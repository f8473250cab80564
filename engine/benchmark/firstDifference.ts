/** The first position at which two sequences differ, their ends included; undefined when they are the same. */
export function firstDifference(a: readonly number[], b: readonly number[]): number | undefined {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) if (a[i] !== b[i]) return i;
  return a.length === b.length ? undefined : shorter;
}
