/** How far above the cursor the renamed name has to be in use: what a prompt can show. */
const NEAR_CHARACTERS = 1500;
const LEAST_USES_ABOVE = 3;
const LEAST_USES_BELOW = 2;

const reserved = new Set(
  'async await break catch class const continue default delete export extends false finally function import instanceof return static super switch throw typeof undefined while yield'.split(
    ' ',
  ),
);

export interface RenameEdit {
  readonly before: string;
  readonly truth: string;
}

/**
 * A change that someone is half through: the longest name that is used above the cursor and in the lines to be
 * written is called otherwise in both. Undefined when there is no such name.
 */
export function renameBefore(before: string, truth: string): RenameEdit | undefined {
  const names = truth.match(/\b[A-Za-z_]\w{4,}\b/g) ?? [];
  const near = before.slice(-NEAR_CHARACTERS);
  const name = [...new Set(names)]
    .filter((candidate) => !reserved.has(candidate))
    .filter(
      (candidate) => uses(near, candidate) >= LEAST_USES_ABOVE && uses(truth, candidate) >= LEAST_USES_BELOW,
    )
    .sort((a, b) => b.length - a.length)[0];
  if (name === undefined) return undefined;
  const renamed = `${name}Value`;
  const rename = (text: string) => text.replaceAll(wholeWord(name), renamed);
  return { before: rename(before), truth: rename(truth) };
}

const wholeWord = (name: string) => new RegExp(`\\b${name}\\b`, 'g');
const uses = (text: string, name: string) => text.match(wholeWord(name))?.length ?? 0;
