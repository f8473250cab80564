import { normalise } from './distribution.ts';
import { mostProbableFirst } from './mostProbableFirst.ts';
import type { SamplingSettings } from './samplingSettings.ts';

/**
 * What the next token is drawn from: temperature, then top-k, top-p and min-p, in the order of Hugging Face
 * transformers (generation/utils.py, `_get_logits_processor`); vLLM applies min-p before the other two. Each cut
 * works on what the one before it left, renormalised. At a cut between equal tokens the lower one stays, so that
 * top-k 1 is the argmax.
 *
 * @param logits [vocab]
 * @param settings a temperature above 0
 * @returns [vocab] probabilities, in Float64: where drafts are rejected, differences of them are drawn from
 */
export function targetDistribution(logits: Float32Array, settings: SamplingSettings): Float64Array {
  const probs = softmax(logits, settings.temperature);
  const { topK, topP, minP } = settings;
  if (topK === 0 && topP === 1 && minP === 0) return probs;
  const kept = new Float64Array(probs.length);
  for (const token of cut(probs, settings)) kept[token] = probs[token];
  normalise(kept);
  return kept;
}

function softmax(logits: Float32Array, temperature: number): Float64Array {
  let best = Number.NEGATIVE_INFINITY;
  for (let token = 0; token < logits.length; token++) best = Math.max(best, logits[token]);
  const probs = new Float64Array(logits.length);
  for (let token = 0; token < probs.length; token++) {
    probs[token] = Math.exp((logits[token] - best) / temperature);
  }
  normalise(probs);
  return probs;
}

/** The tokens that pass all cuts, best first. No cut keeps a token and drops a better one. */
function cut(probs: Float64Array, { topK, topP, minP }: SamplingSettings): Iterable<number> {
  const all = mostProbableFirst(probs);
  const tokens = topK === 0 ? all : [...first(all, topK)];
  const mass = Array.isArray(tokens) ? tokens.reduce((sum, token) => sum + probs[token], 0) : 1;
  return likely(topP === 1 ? tokens : nucleus(tokens, probs, topP * mass), probs, minP);
}

function* first(tokens: Iterable<number>, count: number): Generator<number> {
  let taken = 0;
  for (const token of tokens) {
    yield token;
    if (++taken === count) return;
  }
}

/** Up to and with the token that makes `mass` full. */
function* nucleus(tokens: Iterable<number>, probs: Float64Array, mass: number): Generator<number> {
  let sum = 0;
  for (const token of tokens) {
    yield token;
    sum += probs[token];
    if (sum >= mass) return;
  }
}

/** Those of at least a share of the first one's probability. */
function* likely(tokens: Iterable<number>, probs: Float64Array, share: number): Generator<number> {
  let least = 0;
  for (const token of tokens) {
    if (probs[token] < least) return;
    if (least === 0) least = share * probs[token];
    yield token;
  }
}
