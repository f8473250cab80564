import type { SamplingSettings } from '../../../engine/sampling/samplingSettings.ts';

/** The definitions word by word: each cut sorts, keeps and renormalises on its own. */
export function plainDistribution(logits: ArrayLike<number>, settings: SamplingSettings): number[] {
  const { temperature, topK, topP, minP } = settings;
  const best = Math.max(...Array.from(logits));
  let probs = scaled(Array.from(logits, (logit) => Math.exp((logit - best) / temperature)));
  if (topK > 0) probs = keep(probs, (_token, rank) => rank < topK);
  if (topP < 1) {
    const before = (rank: number) =>
      sum(
        ranked(probs)
          .slice(0, rank)
          .map((token) => probs[token]),
      );
    probs = keep(probs, (_token, rank) => before(rank) < topP);
  }
  const most = Math.max(...probs);
  return keep(probs, (token) => probs[token] >= minP * most);
}

function keep(probs: readonly number[], isKept: (token: number, rank: number) => boolean): number[] {
  const tokens = ranked(probs);
  return scaled(probs.map((probability, token) => (isKept(token, tokens.indexOf(token)) ? probability : 0)));
}

function ranked(probs: readonly number[]): number[] {
  return [...probs.keys()].sort((a, b) => probs[b] - probs[a] || a - b);
}

function scaled(weights: readonly number[]): number[] {
  return weights.map((weight) => weight / sum(weights));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
