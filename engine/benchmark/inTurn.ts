/** Another one begins each turn: the first one finds other caches than the last. */
export function inTurn<Item>(items: readonly Item[], turn: number): Item[] {
  const first = turn % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}
