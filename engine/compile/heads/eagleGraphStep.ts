import { gatedUnit } from '../activations.ts';
import type { HeadNorms, RopeTables } from '../attention.ts';
import type { GraphBuilder, Value } from '../graphBuilder.ts';
import { DraftAttention, type PastRows, type StepAttention } from './eagleGraphAttention.ts';
import type { Eagle3Head, FusingHead } from './head.ts';
import type { HeadWeights } from './headWeights.ts';

export type RecurrentHead = FusingHead | Eagle3Head;

/** M tokens, each with the feature of the position before it. */
export interface StepInputs extends StepAttention {
  readonly tokens: Value; // [1, M] int64
  readonly features: Value; // [1, M, hidden]
}

export interface StepOutputs {
  readonly logits: Value; // [1, A, draft vocabulary]
  readonly features: Value; // [1, A, hidden]: what the step after this one takes
  readonly open: Value; // [1, 2 * kvHeads, O + M, headDim]
}

/** What the attention reads, and what it adds to: [1, M, ...]. */
interface Fused {
  readonly attended: Value;
  readonly residual: Value;
}

/**
 * A feature as the head's first step takes it, from the target's residual streams.
 *
 * @param taps [1, N, taps * target's hidden size] @returns [1, N, hidden]
 */
export async function firstFeatures(
  graph: GraphBuilder,
  head: RecurrentHead,
  weights: HeadWeights,
  taps: Value,
): Promise<Value> {
  if (head.kind !== 'eagle3') return head.targetNorm === 'applied' ? weights.targetNorm(graph, taps) : taps;
  const { linear, norm } = head.projection;
  switch (norm.over) {
    case 'none':
      return weights.dense(graph, taps, [linear]);
    case 'all':
      return weights.dense(graph, await weights.norm(graph, taps, norm.weight), [linear]);
    case 'each': {
      const sizes = graph.ints(norm.weights.map(({ shape }) => shape[0]));
      const parts = graph.ops('Split', [taps, sizes], norm.weights.length, { axis: -1 });
      const normed: Value[] = [];
      // One after the other, as weights are written.
      for (const [i, part] of parts.entries()) normed.push(await weights.norm(graph, part, norm.weights[i]));
      return weights.dense(graph, graph.op('Concat', normed, { axis: -1 }), [linear]);
    }
  }
}

/** One step of a recurrent head, as nodes of the loop's body (see Head for what it computes). */
export class DraftStep {
  readonly #head: RecurrentHead;
  readonly #weights: HeadWeights;
  readonly #rope: RopeTables;
  readonly #past: PastRows;

  constructor(head: RecurrentHead, weights: HeadWeights, rope: RopeTables, past: PastRows) {
    this.#head = head;
    this.#weights = weights;
    this.#rope = rope;
    this.#past = past;
  }

  async run(graph: GraphBuilder, inputs: StepInputs): Promise<StepOutputs> {
    const { q, k, v, o, postAttentionNorm } = this.#head.weights;
    const fused = await this.#fuse(graph, inputs);
    const qkv = await this.#weights.dense(graph, fused.attended, [q, k, v]);
    const attention = new DraftAttention(
      this.#head.layer,
      this.#rope,
      this.#past,
      await this.#headNorms(graph),
    );
    const { attended, open } = attention.attend(graph, qkv, inputs);
    const residual = graph.op('Gather', [fused.residual, inputs.active], { axis: 1 });
    const projected = await this.#weights.dense(graph, attended, [o]);
    const [normed, stream] = await this.#weights.addAndNorm(graph, projected, residual, postAttentionNorm);
    const fed = await this.#feedForward(graph, normed);
    return { ...(await this.#predict(graph, fed, stream)), open };
  }

  async #fuse(graph: GraphBuilder, { tokens, features }: StepInputs): Promise<Fused> {
    const head = this.#head;
    const embedded = await this.#weights.embed(graph, tokens, head.embedding);
    return head.kind === 'eagle3'
      ? this.#fuseInAttention(graph, head, embedded, features)
      : this.#fuseBefore(graph, head, embedded, features);
  }

  async #fuseInAttention(
    graph: GraphBuilder,
    head: Eagle3Head,
    embedded: Value,
    features: Value,
  ): Promise<Fused> {
    const token = await this.#weights.norm(graph, embedded, head.embeddingNorm);
    const feature = await this.#weights.norm(graph, features, head.featureNorm);
    const attended = graph.op('Concat', [token, feature], { axis: -1 });
    return { attended, residual: head.residual === 'normed' ? feature : features };
  }

  async #fuseBefore(
    graph: GraphBuilder,
    { fusion, inputNorm }: FusingHead,
    embedded: Value,
    features: Value,
  ): Promise<Fused> {
    const token = await this.#weights.norm(graph, embedded, fusion.embeddingNorm);
    const feature = await this.#weights.norm(graph, features, fusion.featureNorm);
    const both = fusion.order === 'embeddingFirst' ? [token, feature] : [feature, token];
    const residual = await this.#weights.dense(graph, graph.op('Concat', both, { axis: -1 }), [
      fusion.linear,
    ]);
    return { attended: await this.#weights.norm(graph, residual, inputNorm), residual };
  }

  async #headNorms(graph: GraphBuilder): Promise<HeadNorms | undefined> {
    const { qNorm, kNorm } = this.#head.weights;
    if (!qNorm || !kNorm) return undefined;
    return { query: await this.#weights.vector(graph, qNorm), key: await this.#weights.vector(graph, kNorm) };
  }

  async #feedForward(graph: GraphBuilder, x: Value): Promise<Value> {
    const { gate, up, down } = this.#head.weights;
    const { intermediateSize } = this.#head.layer;
    const both = await this.#weights.dense(graph, x, [gate, up]);
    return this.#weights.dense(graph, gatedUnit(graph, both, intermediateSize), [down]);
  }

  async #predict(graph: GraphBuilder, fed: Value, stream: Value) {
    const { outputNorm, output, recycles } = this.#head;
    if (!outputNorm) {
      const features = graph.op('Add', [fed, stream]);
      return { logits: await this.#weights.logits(graph, features, output), features };
    }
    const [normed, sum] = await this.#weights.addAndNorm(graph, fed, stream, outputNorm);
    const logits = await this.#weights.logits(graph, normed, output);
    return { logits, features: recycles === 'normed' ? normed : sum };
  }
}
