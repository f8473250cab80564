import type { Indentation } from '../protocol.ts';

const DEFAULT_TAB_SIZE = 4;

/** A text's own, as an editor would detect it. */
export function indentationOf(text: string): Indentation {
  const steps = [...text.matchAll(/^( {2,8})\S/gm)].map(([, spaces]) => spaces.length);
  const tabSize = steps.length > 0 ? Math.min(...steps) : DEFAULT_TAB_SIZE;
  return { insertSpaces: !/^\t/m.test(text), tabSize };
}
