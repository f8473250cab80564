import type { Indentation } from '../protocol.ts';

const DEFAULT_TAB_SIZE = 4;

/** A text's own, as an editor would detect it. */
export function indentationOf(text: string): Indentation {
  let least = Number.POSITIVE_INFINITY;
  for (const [, spaces] of text.matchAll(/^( {2,8})\S/gm)) least = Math.min(least, spaces.length);
  const tabSize = Number.isFinite(least) ? least : DEFAULT_TAB_SIZE;
  return { insertSpaces: !/^\t/m.test(text), tabSize };
}
