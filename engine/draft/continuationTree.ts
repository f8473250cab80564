import { ROOT, type TokenTreeBuilder } from '../tree/tokenTree.ts';
import type { Match } from '../workspace/matchList.ts';
import type { Calibration, Evidence } from './calibration.ts';

/** Paths less likely than this are not worth a row of the target's batch on any machine. */
const LEAST_PROBABILITY = 0.02;

/** A guess as it entered the tree. */
export interface Guess {
  readonly parent: number;
  readonly node: number;
  readonly token: number;
  readonly evidence: Evidence;
  /** The best place where it was seen. */
  readonly seenAt: Match;
}

interface Candidate extends Omit<Guess, 'node'> {
  readonly logProb: number;
  readonly pathLogProb: number;
  readonly depth: number;
  readonly matches: readonly Match[];
}

/**
 * Adds the most probable continuations of the matches to a tree, best path first: a trie of what follows the
 * places, as SGLang's n-gram trie and suffix decoding (arXiv 2411.04975, section 3) read theirs, but with
 * probabilities that are calibrated instead of raw shares.
 */
export class ContinuationTree {
  readonly guesses: Guess[] = [];
  readonly #builder: TokenTreeBuilder;
  readonly #calibration: Calibration;

  constructor(builder: TokenTreeBuilder, calibration: Calibration) {
    this.#builder = builder;
    this.#calibration = calibration;
  }

  /** @param budget nodes to add or to confirm at most */
  grow(source: Evidence['source'], matches: readonly Match[], budget: number): void {
    const frontier: Candidate[] = [];
    frontier.push(...this.#continuations(source, matches, 0, ROOT, 0));
    for (let added = 0; added < budget && frontier.length > 0; added++) {
      const best = takeBest(frontier);
      const { parent, token, logProb, evidence, seenAt } = best;
      const node = this.#builder.add(parent, token, logProb, source);
      this.guesses.push({ parent, node, token, evidence, seenAt });
      frontier.push(...this.#continuations(source, best.matches, best.depth + 1, node, best.pathLogProb));
    }
  }

  #continuations(
    source: Evidence['source'],
    matches: readonly Match[],
    depth: number,
    parent: number,
    parentLogProb: number,
  ): Candidate[] {
    const longest = matches.length === 0 ? 0 : matches[0].length + depth;
    let total = 0;
    const groups = new Map<number, { weight: number; matches: Match[] }>();
    for (const match of matches) {
      // Places that share more of the context count for more; exponents from 2 to 8 drafted equally well.
      const weight = ((match.length + depth) / longest) ** 4;
      total += weight;
      const token = match.text.tokens[match.next + depth];
      if (token === match.text.separator) continue;
      const group = groups.get(token);
      if (group === undefined) groups.set(token, { weight, matches: [match] });
      else {
        group.weight += weight;
        group.matches.push(match);
      }
    }
    const candidates: Candidate[] = [];
    for (const [token, group] of groups) {
      const evidence: Evidence = {
        source,
        matchLength: group.matches[0].length + depth,
        share: group.weight / total,
        count: group.matches.length,
      };
      const logProb = Math.log(this.#calibration.probability(evidence));
      const pathLogProb = parentLogProb + logProb;
      if (pathLogProb < Math.log(LEAST_PROBABILITY)) continue;
      candidates.push({
        parent,
        token,
        evidence,
        seenAt: group.matches[0],
        logProb,
        pathLogProb,
        depth,
        matches: group.matches,
      });
    }
    return candidates;
  }
}

function takeBest(frontier: Candidate[]): Candidate {
  let best = 0;
  for (let i = 1; i < frontier.length; i++) {
    if (frontier[i].pathLogProb > frontier[best].pathLogProb) best = i;
  }
  const taken = frontier[best];
  frontier[best] = frontier[frontier.length - 1];
  frontier.pop();
  return taken;
}
