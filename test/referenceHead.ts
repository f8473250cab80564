/** What a head computes, spelled out in float64 without any of the engine's kernels: see Head for the formulas. */
import { type Checkpoint, readTensor } from '../engine/compile/checkpoint.ts';
import type { RecurrentHead } from '../engine/compile/heads/eagleGraphStep.ts';
import type { DenseTensors, TokenTable } from '../engine/compile/heads/head.ts';
import { type NamedTensor, readFloats } from '../engine/compile/storedTensor.ts';

type Vector = readonly number[];

export interface ReferencePair {
  readonly token: number;
  /** The target's taps side by side, or what a step before gave. */
  readonly feature: { readonly from: 'target' | 'step'; readonly values: Vector };
}

export class ReferenceHead {
  readonly #head: RecurrentHead;
  readonly #target: Checkpoint;

  constructor(head: RecurrentHead, target: Checkpoint) {
    this.#head = head;
    this.#target = target;
  }

  /** The step at the last of the pairs, which are at positions 0, 1, ... */
  async step(pairs: readonly ReferencePair[]): Promise<{ logProbs: Vector; feature: Vector }> {
    const { o, postAttentionNorm, gate, up, down } = this.#head.weights;
    const fused = await Promise.all(pairs.map((pair) => this.#fuse(pair)));
    const attended = await this.#attend(fused.map(({ attended }) => attended));
    const stream = sum(fused.at(-1)!.residual, await dense(o, attended));
    const normed = await this.#norm(stream, postAttentionNorm);
    const gates = await dense(gate, normed);
    const ups = await dense(up, normed);
    const gated = gates.map((value, i) => (value / (1 + Math.exp(-value))) * ups[i]);
    const hidden = sum(stream, await dense(down, gated));
    const output = await this.#norm(hidden, this.#head.outputNorm);
    return {
      logProbs: logSoftmax(multiply(await this.#table(this.#head.output, this.#outputName()), output)),
      feature: this.#head.recycles === 'normed' ? output : hidden,
    };
  }

  /** The chain that the head drafts: the target's ids, and log-probabilities of the path. */
  async chain(
    pairs: readonly ReferencePair[],
    length: number,
  ): Promise<{ tokens: number[]; logProbs: number[] }> {
    const [all, tokens, logProbs] = [[...pairs], [] as number[], [] as number[]];
    while (tokens.length < length) {
      const step = await this.step(all);
      const best = step.logProbs.indexOf(Math.max(...step.logProbs));
      const token = this.#head.kind === 'eagle3' ? (this.#head.targetIds?.[best] ?? best) : best;
      tokens.push(token);
      logProbs.push((logProbs.at(-1) ?? 0) + step.logProbs[best]);
      all.push({ token, feature: { from: 'step', values: step.feature } });
    }
    return { tokens, logProbs };
  }

  async #fuse({ token, feature }: ReferencePair): Promise<{ attended: Vector; residual: Vector }> {
    const head = this.#head;
    const table = await this.#table(head.embedding, 'model.embed_tokens.weight');
    const embedding = table[token];
    const values = feature.from === 'target' ? await this.#firstFeature(feature.values) : feature.values;
    if (head.kind === 'eagle3') {
      const normed = await this.#norm(values, head.featureNorm);
      return {
        attended: [...(await this.#norm(embedding, head.embeddingNorm)), ...normed],
        residual: head.residual === 'normed' ? normed : values,
      };
    }
    const { order, linear, embeddingNorm, featureNorm } = head.fusion;
    const both = [await this.#norm(embedding, embeddingNorm), await this.#norm(values, featureNorm)];
    if (order === 'featureFirst') both.reverse();
    const residual = await dense(linear, both.flat());
    return { attended: await this.#norm(residual, head.inputNorm), residual };
  }

  async #firstFeature(taps: Vector): Promise<Vector> {
    const head = this.#head;
    const { normEpsilon, hiddenSize } = this.#target.architecture;
    if (head.kind !== 'eagle3') {
      const weight = [...(await readTensor(this.#target, 'model.norm.weight'))];
      return head.targetNorm === 'applied' ? rmsNorm(taps, weight, normEpsilon) : taps;
    }
    const { linear, norm } = head.projection;
    if (norm.over === 'none') return dense(linear, taps);
    if (norm.over === 'all') return dense(linear, await this.#norm(taps, norm.weight));
    const parts = norm.weights.map((weight, i) =>
      this.#norm(taps.slice(i * hiddenSize, (i + 1) * hiddenSize), weight),
    );
    return dense(linear, (await Promise.all(parts)).flat());
  }

  /** @param inputs of all positions @returns what the last one attends to */
  async #attend(inputs: readonly Vector[]): Promise<Vector> {
    const { heads, kvHeads } = this.#head.layer;
    const { q, k, v, qNorm, kNorm } = this.#head.weights;
    const last = inputs.length - 1;
    const queries = await this.#heads(await dense(q, inputs[last]), heads, last, qNorm);
    const keys = await Promise.all(
      inputs.map(async (x, position) => this.#heads(await dense(k, x), kvHeads, position, kNorm)),
    );
    const values = await Promise.all(inputs.map(async (x) => split(await dense(v, x), kvHeads)));
    return queries.flatMap((query, head) => {
      const kvHead = Math.floor((head * kvHeads) / heads);
      const scores = keys.map((key) => dot(query, key[kvHead]) / Math.sqrt(query.length));
      const weights = logSoftmax(scores).map(Math.exp);
      return query.map((_, i) =>
        weights.reduce((total, weight, position) => total + weight * values[position][kvHead][i], 0),
      );
    });
  }

  async #heads(x: Vector, count: number, position: number, norm: NamedTensor | undefined): Promise<Vector[]> {
    const normed = await Promise.all(split(x, count).map((head) => this.#norm(head, norm)));
    return normed.map((head) => rotate(head, position, this.#head.layer.ropeTheta));
  }

  async #norm(x: Vector, tensor: NamedTensor | undefined): Promise<Vector> {
    if (!tensor) return x;
    return rmsNorm(x, [...(await readFloats(tensor))], this.#head.layer.normEpsilon);
  }

  #outputName(): string {
    return this.#target.architecture.tiedEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';
  }

  async #table(table: TokenTable, targetName: string): Promise<Vector[]> {
    const { hiddenSize } = this.#head.layer;
    const values =
      table.from === 'head' ? await readFloats(table.weight) : await readTensor(this.#target, targetName);
    return split([...values], values.length / hiddenSize);
  }
}

async function dense({ weight, bias }: DenseTensors, x: Vector): Promise<number[]> {
  const product = multiply(split([...(await readFloats(weight))], weight.shape[0]), x);
  const added = bias && (await readFloats(bias));
  return product.map((value, i) => value + (added?.[i] ?? 0));
}

/** Rotary positions on pairs (i, i + half), as the Llama family has them. */
function rotate(x: Vector, position: number, theta: number): number[] {
  const half = x.length / 2;
  return x.map((value, i) => {
    const angle = position / theta ** ((i % half) / half);
    const other = i < half ? -x[i + half] : x[i - half];
    return value * Math.cos(angle) + other * Math.sin(angle);
  });
}

function rmsNorm(x: Vector, weight: Vector, epsilon: number): number[] {
  const scale = Math.sqrt(dot(x, x) / x.length + epsilon);
  return x.map((value, i) => (value / scale) * weight[i]);
}

function logSoftmax(scores: Vector): number[] {
  const largest = Math.max(...scores);
  const total = scores.reduce((all, score) => all + Math.exp(score - largest), 0);
  return scores.map((score) => score - largest - Math.log(total));
}

function split(x: Vector, parts: number): number[][] {
  const size = x.length / parts;
  return Array.from({ length: parts }, (_, i) => x.slice(i * size, (i + 1) * size));
}

const multiply = (rows: readonly Vector[], x: Vector) => rows.map((row) => dot(row, x));
const dot = (a: Vector, b: Vector) => a.reduce((total, value, i) => total + value * b[i], 0);
const sum = (a: Vector, b: Vector) => a.map((value, i) => value + b[i]);
