import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { mersenne } from 'pure-rand/generator/mersenne';
import type { Random } from '../seededRandom.ts';

/**
 * What the target's tokens are drawn with, in steps of 2^-53, the same for the same seed. Mersenne Twister, because its
 * initialisation spreads small seeds well: the first number that the package's recommended xoroshiro128+ gives is close
 * to 1 for all of them.
 */
export function targetNumbers(seed: number): Random {
  const generator = mersenne(seed);
  return () => uniformFloat64(generator);
}

/**
 * What a drafter draws with: another sequence than the target's for any seed, because verification is only lossless
 * for drafts that know nothing of the target's random numbers.
 */
export function draftNumbers(seed: number): Random {
  return targetNumbers(~seed);
}
