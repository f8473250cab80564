import type { HiddenRows, SessionView } from '../../../engine/draft/drafter.ts';

/** Control tokens of the formats below. */
const PREFIX = 90;
const SUFFIX = 91;
const MIDDLE = 92;
export const specialTokenIds: ReadonlySet<number> = new Set([PREFIX, SUFFIX, MIDDLE]);
export const VOCAB_SIZE = 100;

/** Of a target that hands out no hidden states. */
export const noHiddenRows: HiddenRows = { length: 0, width: 0, slice: () => new Float32Array(0) };

let sessions = 0;

export interface Texts {
  readonly prefix: readonly number[];
  readonly suffix?: readonly number[];
  readonly generated?: readonly number[];
  readonly document?: string;
}

export function newSessionId(): number {
  return ++sessions;
}

/** A session in the order suffix, prefix, generated. */
export function suffixFirst(
  { prefix, suffix = [], generated = [], document }: Texts,
  id = newSessionId(),
): SessionView {
  const prompt = [SUFFIX, ...suffix, PREFIX, ...prefix, MIDDLE];
  return {
    id,
    tokens: Int32Array.from([...prompt, ...generated]),
    promptLength: prompt.length,
    prefix: { start: suffix.length + 2, end: prompt.length - 1 },
    suffix: { start: 1, end: 1 + suffix.length },
    document,
    hidden: noHiddenRows,
  };
}

/** A session in the order prefix, suffix, generated. */
export function prefixFirst(
  { prefix, suffix = [], generated = [], document }: Texts,
  id = newSessionId(),
): SessionView {
  const prompt = [PREFIX, ...prefix, SUFFIX, ...suffix, MIDDLE];
  return {
    id,
    tokens: Int32Array.from([...prompt, ...generated]),
    promptLength: prompt.length,
    prefix: { start: 1, end: 1 + prefix.length },
    suffix: { start: prefix.length + 2, end: prompt.length - 1 },
    document,
    hidden: noHiddenRows,
  };
}
