import { type CountTokens, windowStart } from './window.ts';

/** Where the prompt's prefix begins, kept across keystrokes. */
export interface PrefixAnchor {
  readonly start: number;
  /** The text at `start`, to recognise the place after edits. */
  readonly head: string;
  readonly textLength: number;
}

const headLength = 120;

/** A new anchor leaves this share of the budget free, to be typed full before the next one is needed. */
const roomToType = 1 / 4;

/** No text has longer tokens on average: more than this is not worth counting. */
const charactersPerToken = 16;

/**
 * A window that ends at the cursor and has a fixed size would begin elsewhere after each keystroke, and all KV
 * rows would be worthless. So it begins where it began before, as long as what lies between fits, and then jumps
 * by a quarter of the budget.
 */
export function anchorPrefix(
  text: string,
  prefixEnd: number,
  maxTokens: number,
  count: CountTokens,
  previous?: PrefixAnchor,
): { readonly anchor: PrefixAnchor; readonly kept: boolean } {
  const known = previous && placeOf(previous, text, prefixEnd);
  if (known !== undefined && isWorthKeeping(text.slice(known, prefixEnd), known, maxTokens, count)) {
    return { anchor: anchorAt(text, known), kept: true };
  }
  const earliest = windowStart(text, prefixEnd, maxTokens, count);
  const start = earliest === 0 ? 0 : windowStart(text, prefixEnd, maxTokens * (1 - roomToType), count);
  return { anchor: anchorAt(text, start), kept: false };
}

const anchorAt = (text: string, start: number): PrefixAnchor => ({
  start,
  head: text.slice(start, start + headLength),
  textLength: text.length,
});

/** Edits above move the place by what they added; edits in it lose it, and lose nothing more than KV rows. */
function placeOf(anchor: PrefixAnchor, text: string, prefixEnd: number): number | undefined {
  if (anchor.start === 0) return 0;
  const shifted = anchor.start + text.length - anchor.textLength;
  return [anchor.start, shifted].find(
    (start) => start <= prefixEnd && isAt(anchor.head, text, start, prefixEnd),
  );
}

/** Only what lies before the cursor counts: the user is typing right there. */
function isAt(head: string, text: string, start: number, prefixEnd: number): boolean {
  const length = Math.min(head.length, prefixEnd - start);
  return start >= 0 && text.startsWith(head.slice(0, length), start);
}

/** The text fits, and still says enough: after a jump upwards there may be next to nothing left of it. */
function isWorthKeeping(prefix: string, start: number, maxTokens: number, count: CountTokens): boolean {
  if (prefix.length > maxTokens * charactersPerToken) return false;
  const tokens = count(prefix);
  return tokens <= maxTokens && (start === 0 || tokens >= maxTokens * roomToType);
}
