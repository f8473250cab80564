import type { DraftSource } from '../tree/tokenTree.ts';
import type { Match } from '../workspace/matchList.ts';
import type { Guess, GuessSource, PathEnd } from './guess.ts';
import type { Evidence, NgramCalibration } from './ngramCalibration.ts';

/** The next token where the text before it was seen. */
export interface ContinuationGuess extends Guess {
  readonly evidence: Evidence;
  /** The places that go on with it, the best one first; `next` is where the last drafts began. */
  readonly matches: readonly Match[];
}

/**
 * What follows the places that share the text before the drafts: a trie of their continuations, as SGLang's n-gram trie
 * and suffix decoding (arXiv 2411.04975, section 3) read theirs, but with probabilities that are calibrated instead of
 * raw shares.
 */
export class ContinuationSource implements GuessSource<ContinuationGuess> {
  readonly name: DraftSource;
  readonly #calibration: NgramCalibration;
  readonly #onCredit: (seenAt: Match) => void;
  #matches: readonly Match[] = [];

  /** @param onCredit takes the best place where an accepted token was seen */
  constructor(
    name: DraftSource,
    calibration: NgramCalibration,
    onCredit: (seenAt: Match) => void = () => {},
  ) {
    this.name = name;
    this.#calibration = calibration;
    this.#onCredit = onCredit;
  }

  /** The places that share the text before the drafts, longest match first. */
  get matches(): readonly Match[] {
    return this.#matches;
  }

  set matches(matches: readonly Match[]) {
    this.#matches = matches;
  }

  after({ depth }: PathEnd, own: ContinuationGuess | undefined): readonly ContinuationGuess[] {
    const matches = depth === 0 ? this.#matches : (own?.matches ?? []);
    if (matches.length === 0) return [];
    const longest = matches[0].length + depth;
    let total = 0;
    const groups: { readonly token: number; readonly matches: Match[]; weight: number }[] = [];
    for (const match of matches) {
      const squared = ((match.length + depth) / longest) ** 2;
      // Places that share more of the context count for more; exponents from 2 to 8 drafted equally well.
      const weight = squared * squared;
      total += weight;
      const token = match.text.tokens[match.next + depth];
      if (token === match.text.separator) continue;
      const group = groups.find((other) => other.token === token);
      if (group === undefined) groups.push({ token, matches: [match], weight });
      else {
        group.weight += weight;
        group.matches.push(match);
      }
    }
    return groups.map(({ token, matches, weight }) => this.#guess(token, matches, weight / total, depth));
  }

  learn({ evidence }: ContinuationGuess, accepted: boolean): void {
    this.#calibration.observe(evidence, accepted);
  }

  credit({ matches }: ContinuationGuess): void {
    this.#onCredit(matches[0]);
  }

  #guess(token: number, matches: readonly Match[], share: number, depth: number): ContinuationGuess {
    const evidence: Evidence = {
      source: this.name,
      matchLength: matches[0].length + depth,
      share,
      count: matches.length,
    };
    const probability = this.#calibration.probability(evidence);
    return { token, probability, evidence, matches };
  }
}
