/** Space for drafts that the window leaves in the draft model's context. */
const ROOM = 32;

/**
 * Where the window on a sequence begins that is longer than the draft model's context: the model forgets the older half
 * of its context whenever it is full. It moves in such strides, and by the length alone, so that rows are kept between.
 */
export function windowStart(length: number, contextLength: number): number {
  const overflow = length + Math.min(ROOM, Math.floor(contextLength / 4)) - contextLength;
  if (overflow <= 0) return 0;
  const stride = Math.ceil(contextLength / 2);
  return Math.ceil(overflow / stride) * stride;
}
