import { type DraftSource, draftSources } from '../tree/tokenTree.ts';
import { Calibration } from './calibration.ts';

/** What a guess rests on. */
export interface Evidence {
  readonly source: DraftSource;
  /** Tokens before the guess that were the same where it was seen. */
  readonly matchLength: number;
  /** Part of the places (weighted by match length) that continue with the guess. */
  readonly share: number;
  /** Places that continue with the guess. */
  readonly count: number;
}

/** Lower ends of the buckets of match lengths. */
const LENGTHS = [1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32];

/** Buckets of shares; a share of 1 is worth more the more places agree. */
const SHARES = 8;

/** Shares are sums of weights: 1 but for rounding. */
const UNANIMOUS = 0.999;

/** The same model wrote it at the same place: assumed to be worth several places elsewhere. */
const LAST_SUGGESTION_WEIGHT = 3;

/** P(the target accepts a guess | it accepted the guess before it) by where and how often the guess was seen. */
export class NgramCalibration {
  readonly #calibration = new Calibration(draftSources.length * LENGTHS.length * SHARES);

  probability(evidence: Evidence): number {
    return this.#calibration.probability(cellOf(evidence), prior(evidence));
  }

  observe(evidence: Evidence, accepted: boolean): void {
    this.#calibration.observe(cellOf(evidence), accepted);
  }
}

function cellOf({ source, matchLength, share, count }: Evidence): number {
  const length = LENGTHS.findLastIndex((least) => matchLength >= least);
  return (draftSources.indexOf(source) * LENGTHS.length + length) * SHARES + shareBucket(share, count);
}

function shareBucket(share: number, count: number): number {
  if (share > UNANIMOUS) return count >= 4 ? 7 : count >= 2 ? 6 : 5;
  return Math.min(4, Math.floor(share * 5));
}

/**
 * Fitted to the text of JavaScript, TypeScript and Python packages that was to be guessed from the rest of the
 * file and of the package. Where places disagree, the length of the match said nothing more.
 */
function prior({ source, matchLength, share, count }: Evidence): number {
  if (share <= UNANIMOUS) return 0.65 * share ** 1.2;
  const agreement = count ** 0.7 * (source === 'lastSuggestion' ? LAST_SUGGESTION_WEIGHT : 1);
  return 1 - 1 / ((1.3 + matchLength / 3.5) * agreement);
}
