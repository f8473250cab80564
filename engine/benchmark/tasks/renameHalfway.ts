import type { Span } from '../../syntax/syntaxTree.ts';
import type { Hole } from './task.ts';

/** How far above the cursor the renamed name has to be in use: what a prompt can show. */
const NEAR_CHARACTERS = 1500;
const LEAST_USES_ABOVE = 3;
const LEAST_USES_BELOW = 2;

/** Words of the languages themselves; a name is at least 5 characters long. */
const reserved = new Set(
  (
    'abstract alignas async await begin boolean break catch class const constexpr continue debugger default defer ' +
    'delete double elseif elsif ensure explicit export extends extern false final finally float foreach friend ' +
    'function global guard implements import inline instanceof interface internal lambda module mutable namespace ' +
    'native nonlocal number object operator override package private protected public raise readonly register ' +
    'rescue return short signed sizeof static string struct super switch synchronized template throw throws trait ' +
    'transient typedef typename typeof undefined union unless unsafe unsigned until using virtual void volatile ' +
    'where while yield'
  ).split(' '),
);

/**
 * A change that someone is half through: the longest name that is used above the cursor and in the lines of the span is
 * called otherwise in both. The lines as they were stand below: they are deleted once the new ones are there.
 *
 * @returns undefined when there is no such name
 */
export function renameHalfway(text: string, { start, end }: Span): Hole | undefined {
  const before = text.slice(0, start);
  const lines = text.slice(start, end);
  const name = nameToChange(before, lines);
  if (name === undefined) return undefined;
  const rename = (part: string) => part.replaceAll(wholeWord(name), `${name}Value`);
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n';
  return {
    before: rename(before),
    realText: rename(lines),
    after: lineBreak + text.slice(lineStart(text, start)),
  };
}

const lineStart = (text: string, offset: number) => text.lastIndexOf('\n', offset - 1) + 1;

function nameToChange(before: string, lines: string): string | undefined {
  const names = lines.match(/\b[A-Za-z_]\w{4,}\b/g) ?? [];
  const near = before.slice(-NEAR_CHARACTERS);
  return [...new Set(names)]
    .filter((name) => !reserved.has(name))
    .filter((name) => uses(near, name) >= LEAST_USES_ABOVE && uses(lines, name) >= LEAST_USES_BELOW)
    .sort((a, b) => b.length - a.length)[0];
}

const wholeWord = (name: string) => new RegExp(`\\b${name}\\b`, 'g');
const uses = (text: string, name: string) => text.match(wholeWord(name))?.length ?? 0;
