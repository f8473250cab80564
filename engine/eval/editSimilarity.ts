import { distance } from 'fastest-levenshtein';

/** 1 - Levenshtein distance / length of the longer text, as in CodeXGLUE and RepoBench: 1 is the same, 0 nothing in common. */
export function editSimilarity(a: string, b: string): number {
  const length = Math.max(a.length, b.length);
  return length === 0 ? 1 : 1 - distance(a, b) / length;
}
