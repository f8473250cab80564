import type { SessionView } from '../../../engine/draft/drafter.ts';

/** A session whose last token alone is pending. features // [tokens - 1, width] */
export function goldenView(tokens: Int32Array, features: Float32Array): SessionView {
  const length = tokens.length - 1;
  const width = features.length / length;
  const slice = (start: number, end: number) => features.subarray(start * width, end * width);
  return {
    id: 1,
    tokens,
    promptLength: length,
    prefix: { start: 0, end: length },
    suffix: { start: length, end: length },
    hidden: { length, width, slice },
  };
}
