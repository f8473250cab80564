/** How many tokens two sequences have in common from the beginning on. */
export function commonPrefix(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const limit = Math.min(a.length, b.length);
  let common = 0;
  while (common < limit && a[common] === b[common]) common++;
  return common;
}
