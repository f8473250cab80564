import type { LayerShape } from '../architecture.ts';
import type { NamedTensor } from '../storedTensor.ts';

/**
 * What a published speculative head computes, whatever project trained it and however its files spell it.
 *
 * All but Medusa hold one decoder layer that is run once a drafted token. A step takes the embedding of a token and the
 * feature of the position before it, and gives a feature again: the one of the position that the token stands at.
 *     x = fuse(embedding(token), feature)      - what differs between the kinds
 *     h = layer(x)                             - residual stream after the layer, before any norm
 *     logits = output(outputNorm(h))
 *     feature of the next step = recycles === 'normed' ? outputNorm(h) : h
 * The first feature comes from the target's residual streams (`taps`). The feature of position t is paired with token
 * t + 1, and the pair has the rotary position t.
 *
 * Tensors keep the names their files give them, for messages and for the names of weights in a graph; `readFloats`
 * (engine/compile/storedTensor.ts) reads their values.
 */
export type Head = FusingHead | Eagle3Head | MedusaHead;
export type HeadKind = Head['kind'];

/** A dense layer's weight [outputs, inputs], and bias [outputs] where it has one. */
export interface DenseTensors {
  readonly weight: NamedTensor;
  readonly bias?: NamedTensor | undefined;
}

/** The tensors of the one decoder layer that every kind has. Norms before it are the kind's. */
export interface LayerTensors {
  // [heads * headDim, w] and twice [kvHeads * headDim, w]; w is hiddenSize, of EAGLE-3 twice that
  readonly q: DenseTensors;
  readonly k: DenseTensors;
  readonly v: DenseTensors;
  readonly o: DenseTensors; // [hiddenSize, heads * headDim]
  /** Present where `LayerShape.qkNorm` says so: [headDim], over each head before it is rotated. */
  readonly qNorm?: NamedTensor | undefined;
  readonly kNorm?: NamedTensor | undefined;
  readonly postAttentionNorm: NamedTensor; // [hiddenSize]
  readonly gate: DenseTensors;
  readonly up: DenseTensors;
  readonly down: DenseTensors;
}

/** A table of one row a token, the head's own or the target's: the builder has the target's checkpoint. */
export type TokenTable =
  | { readonly from: 'head'; readonly weight: NamedTensor }
  | { readonly from: 'target' };

interface HeadBase {
  /** The folder, for messages. */
  readonly dir: string;
  readonly name: string;
  /** Everything that was read: a graph built from the head is cached by the contents of these files. */
  readonly files: readonly string[];
  /**
   * Residual streams of the target that a feature is made of, in the order of their concatenation
   * (DecoderGraphOptions.taps: i is the input of layer i, the number of layers the stream before the final norm).
   */
  readonly taps: readonly number[];
}

interface OneLayerHead extends HeadBase {
  /** Rotary positions, epsilon and sizes are the head's own: they often differ from the target's. */
  readonly layer: LayerShape;
  readonly weights: LayerTensors;
  readonly embedding: TokenTable; // [target vocabulary, hiddenSize]
  readonly output: TokenTable; // [draft vocabulary, hiddenSize]
  readonly outputNorm?: NamedTensor | undefined; // [hiddenSize]
  readonly recycles: 'residual' | 'normed';
}

/**
 * EAGLE-1/2 and MTP: token and feature are projected to one stream, which is the residual of an ordinary layer.
 *     x = fusion([embedding | feature])        - order and norms as `fusion` says
 *     h = x + attention(inputNorm(x)) and so on
 */
export interface FusingHead extends OneLayerHead {
  readonly kind: 'eagle' | 'mtp';
  /** The stream before the target's final norm. */
  readonly taps: readonly [number];
  /** Whether the tap passes the target's final norm before it is the first feature. */
  readonly targetNorm: 'applied' | 'none';
  readonly fusion: {
    readonly order: 'embeddingFirst' | 'featureFirst';
    readonly linear: DenseTensors; // [hiddenSize, 2 * hiddenSize]
    readonly embeddingNorm?: NamedTensor | undefined; // [hiddenSize]
    readonly featureNorm?: NamedTensor | undefined; // [hiddenSize]
  };
  /** Absent in EAGLE-1/2: attention reads x itself. */
  readonly inputNorm?: NamedTensor | undefined; // [hiddenSize]
}

/**
 * EAGLE-3: the feature of the target is projected once; token and feature meet in the layer's attention.
 *     first feature = projection.linear(norms of `projection`(concatenated taps))
 *     attention reads [embeddingNorm(embedding) | featureNorm(feature)]
 *     residual of the layer = residual === 'normed' ? featureNorm(feature) : feature
 */
export interface Eagle3Head extends OneLayerHead {
  readonly kind: 'eagle3';
  readonly projection: {
    readonly linear: DenseTensors; // [hiddenSize, taps * target's hidden size]
    /** One norm over all taps together, one for each tap, or none. */
    readonly norm:
      | { readonly over: 'none' }
      | { readonly over: 'all'; readonly weight: NamedTensor } // [taps * target's hidden size]
      | { readonly over: 'each'; readonly weights: readonly NamedTensor[] }; // taps times [target's hidden size]
  };
  readonly embeddingNorm: NamedTensor; // [hiddenSize]
  readonly featureNorm: NamedTensor; // [hiddenSize]
  readonly residual: 'feature' | 'normed';
  readonly outputNorm: NamedTensor;
  readonly draftVocabSize: number;
  /** [draftVocabSize] ascending: the target's id of every draft token; absent when both vocabularies are the same. */
  readonly targetIds?: Int32Array | undefined;
}

/**
 * Medusa: head i predicts the token i + 2 places after the feature's, from the feature alone.
 *     x = x + silu(block(x)) for every block, then logits = output(x)
 * The feature is the tap after the target's final norm.
 */
export interface MedusaHead extends HeadBase {
  readonly kind: 'medusa';
  readonly taps: readonly [number];
  readonly heads: readonly {
    readonly blocks: readonly DenseTensors[]; // [hiddenSize, hiddenSize]
    readonly output: DenseTensors; // [target vocabulary, hiddenSize]
  }[];
}
