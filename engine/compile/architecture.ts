/** How rotary frequencies are changed for long contexts (transformers, modeling_rope_utils.py). */
export type RopeScaling =
  | { readonly type: 'none' }
  | { readonly type: 'linear'; readonly factor: number }
  | {
      readonly type: 'llama3';
      readonly factor: number;
      readonly lowFrequencyFactor: number;
      readonly highFrequencyFactor: number;
      readonly originalContextLength: number;
    };

/** The sizes of one pre-norm block: grouped-query attention with rotary positions and a gated feed-forward network. */
export interface LayerShape {
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly normEpsilon: number;
  readonly ropeTheta: number;
  readonly ropeScaling: RopeScaling;
  readonly contextLength: number;
  readonly bias: { readonly qkv: boolean; readonly output: boolean; readonly mlp: boolean };
  /** Every head's query and key pass an RMS norm before they are rotated; one weight [headDim] for all heads. */
  readonly qkNorm: boolean;
}

/** A decoder-only transformer in the terms the graph is built from. A family is a way to fill this in. */
export interface Architecture extends LayerShape {
  readonly family: string;
  readonly vocabSize: number;
  readonly layers: number;
  /** The output projection is the embedding table. */
  readonly tiedEmbeddings: boolean;
}

/** Rotary angles per position: cos and sin, each [contextLength, headDim / 2]. */
export function ropeTables(architecture: LayerShape): { cos: Float32Array; sin: Float32Array } {
  const { contextLength, headDim } = architecture;
  const frequencies = ropeFrequencies(architecture);
  const cos = new Float32Array(contextLength * frequencies.length);
  const sin = new Float32Array(contextLength * frequencies.length);
  for (let position = 0, i = 0; position < contextLength; position++) {
    for (let pair = 0; pair < headDim / 2; pair++, i++) {
      // The reference multiplies in float32, and at far positions the rounding shows in the angle.
      const angle = Math.fround(position * frequencies[pair]);
      cos[i] = Math.cos(angle);
      sin[i] = Math.sin(angle);
    }
  }
  return { cos, sin };
}

function ropeFrequencies({ headDim, ropeTheta, ropeScaling }: LayerShape): Float32Array {
  const frequencies = new Float32Array(headDim / 2);
  for (let pair = 0; pair < frequencies.length; pair++) {
    frequencies[pair] = scaleFrequency(1 / ropeTheta ** ((2 * pair) / headDim), ropeScaling);
  }
  return frequencies;
}

function scaleFrequency(frequency: number, scaling: RopeScaling): number {
  if (scaling.type === 'none') return frequency;
  if (scaling.type === 'linear') return frequency / scaling.factor;
  const { factor, lowFrequencyFactor, highFrequencyFactor, originalContextLength } = scaling;
  const turns = (originalContextLength * frequency) / (2 * Math.PI);
  if (turns > highFrequencyFactor) return frequency;
  if (turns < lowFrequencyFactor) return frequency / factor;
  const smooth = (turns - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor);
  return ((1 - smooth) * frequency) / factor + smooth * frequency;
}
