import { draw, normalise } from '../sampling/distribution.ts';
import type { Random } from '../seededRandom.ts';

/**
 * The target's token after a node whose children were drawn from a draft distribution q: child x is accepted with
 * probability min(1, p(x) / q(x)); a rejection leaves norm(max(0, p - q)) of the target's, and q without x for the
 * next child; when no child is left, the token is drawn from what is left of p (Leviathan et al. 2023, algorithm 1,
 * for one child; SpecInfer, algorithm 2, for several; without replacement as in Sequoia, algorithm 2).
 *
 * @param p [vocab] the target's distribution
 * @param q [vocab] what the first child was drawn from; each later one, from the rest of it
 * @param drawn the children's tokens, in the order they were drawn in
 * @returns distributed as p; one of `drawn` if that one is accepted
 */
export function acceptDrawn(
  p: Float64Array,
  q: Float64Array,
  drawn: readonly number[],
  random: Random,
): number {
  const target = p.slice();
  const draft = q.slice();
  for (const token of drawn) {
    if (random() * draft[token] < target[token]) return token;
    for (let x = 0; x < target.length; x++) target[x] = Math.max(0, target[x] - draft[x]);
    // Equal distributions reject by rounding alone, and then nothing is left to draw from.
    if (!normalise(target)) return token;
    draft[token] = 0;
    normalise(draft);
  }
  return draw(target, random);
}
