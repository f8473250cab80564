/**
 * Positions that a window leaves for drafts in the draft model's context: the levels that are ever drafted (MOST_STEPS in
 * speculationSettings.ts).
 */
const ROOM = 16;

/** Longest sequences of both models, in tokens. */
export interface ContextLengths {
  readonly draft: number;
  readonly target: number;
}

/** What of the target's sequence the draft model is given. */
export interface DraftWindow {
  readonly start: number;
  /** Present when the window moves soon: where to, and how many of its tokens should be evaluated by now. */
  readonly next?: { readonly start: number; readonly due: number } | undefined;
}

/**
 * The window on a sequence that grows beyond the draft model's context: the model forgets the older half of its context
 * whenever it is full, but not when what is left is all that the target has room for. It moves in such strides, and by the
 * length alone, so that rows are kept between. Over the quarter of a context before it moves, the rows of the next one
 * fall due little by little: all at once they would take so long that nothing were drafted meanwhile.
 */
export function draftWindow(length: number, { draft, target }: ContextLengths): DraftWindow {
  const stride = Math.ceil(draft / 2);
  const full = draft - Math.min(ROOM, Math.floor(draft / 4));
  const lastStart = stride * Math.max(0, Math.ceil((target - draft) / stride));
  const start = Math.min(lastStart, stride * Math.max(0, Math.ceil((length - full) / stride)));
  if (start === lastStart) return { start };
  const ahead = Math.floor(draft / 4);
  const begun = length - (start + full - ahead);
  if (begun <= 0) return { start };
  const nextStart = start + stride;
  const due = Math.floor(((length - nextStart) * begun) / ahead);
  return due > 0 ? { start, next: { start: nextStart, due } } : { start };
}
