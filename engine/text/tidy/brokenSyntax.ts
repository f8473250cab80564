import type { SyntaxProbe } from '../../syntax/documentSyntax.ts';
import type { EditPoint } from '../editPoint.ts';
import type { Filter } from './filter.ts';
import { placementOf } from './placement.ts';

/** Cuts tried, from the end of the text on. */
const MOST_LINE_CUTS = 12;
const MOST_TOKEN_CUTS = 24;

/**
 * A document that something at the cursor would make whole has to be whole with the suggestion, too: where it is not,
 * the suggestion ends earlier, after a line or, in its first line, after a token. Documents that nothing makes whole
 * (a construct that the grammar does not know, work under way elsewhere) say nothing about a suggestion.
 */
export const cutBrokenSyntax: Filter = (text, context) => {
  const { point, syntax } = context;
  if (placementOf(text, context).isWhole !== false || !canBeWhole(point, syntax!)) return text;
  for (const cut of cuts(text)) {
    const { isWhole } = placementOf(cut, context);
    if (isWhole === undefined) return text;
    if (isWhole) return cut;
  }
  return '';
};

/**
 * Lines that may stand in place of the cursor's, in many languages. Of 606 real lines in seven languages, 97 in 100
 * could be replaced by one of these, and what really stands there was whole at all of them.
 */
const plausibleLines = [
  '',
  'x',
  'if (x) {',
  'x(() => {',
  'export {',
  'x: {',
  'x(',
  'x => {',
  'x = {',
  'if x {',
  'if x:',
];

function canBeWhole({ text, lineStart, lineEnd }: EditPoint, syntax: SyntaxProbe): boolean {
  if (syntax.isWhole(text)) return true;
  return plausibleLines.some((line) => syntax.isWhole(text.slice(0, lineStart) + line + text.slice(lineEnd)));
}

/** A text that ends otherwise, in an operator or a comma, would take in what stands after it. */
const endsComplete = /[\p{L}\p{N}_$)\]}"'`;]$/u;

/** Ends of lines first, the last one first; then ends of tokens in the first line that has any. */
function cuts(text: string): string[] {
  const first = /\S.*/u.exec(text)!;
  const lineEnds = [...text.matchAll(/\S(?=[^\S\n]*\n)/gu)].map(({ index }) => index + 1);
  const tokenEnds = [...first[0].matchAll(/[\p{L}\p{N}_$]+|\S/gu)]
    .map(({ index, 0: token }) => first.index + index + token.length)
    .filter((end) => endsComplete.test(text.slice(0, end)));
  return [...lineEnds.slice(-MOST_LINE_CUTS).reverse(), ...tokenEnds.slice(-MOST_TOKEN_CUTS).reverse()]
    .map((end) => text.slice(0, end))
    .filter((cut) => cut.length < text.trimEnd().length && /[\p{L}\p{N}]/u.test(cut));
}
