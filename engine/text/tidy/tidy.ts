import type { Range } from '../../protocol.ts';
import type { EditPoint } from '../editPoint.ts';
import { lineAfter } from '../editPoint.ts';
import { dropBlank } from './blank.ts';
import { cutBrokenSyntax } from './brokenSyntax.ts';
import type { Filter, TidyContext } from './filter.ts';
import { indentLikeEditor } from './indentation.ts';
import { dropLeadingBlankLines } from './leadingBlankLines.ts';
import { lineFeeds } from './lineFeeds.ts';
import { placementOf } from './placement.ts';
import { cutRepetition } from './repetition.ts';
import { joinSpacing } from './spacing.ts';
import { cutAtSpecialTokenNames } from './specialTokenNames.ts';
import { cutSuffixLines } from './suffixLines.ts';
import { trimTrailingSpace } from './trailingSpace.ts';
import { dropTypedIndentation } from './typedIndentation.ts';

/** `shapes`: does the same wherever the text ends, so that text that only grows stays so. `cuts`: judges a whole text. */
type Effect = 'shapes' | 'cuts';

/** The pipeline, in order. The name is the reason given when a filter leaves nothing. */
const filters: readonly (readonly [reason: string, filter: Filter, effect: Effect])[] = [
  ['nothing but line ends', lineFeeds, 'shapes'],
  ['a special token only', cutAtSpecialTokenNames, 'cuts'],
  ['white space only', dropLeadingBlankLines, 'shapes'],
  ['repeats itself', cutRepetition, 'cuts'],
  ['repeats what follows', cutSuffixLines, 'cuts'],
  ['white space only', joinSpacing, 'shapes'],
  ['white space only', indentLikeEditor, 'shapes'],
  ['white space only', dropTypedIndentation, 'shapes'],
  ['white space only', trimTrailingSpace, 'cuts'],
  ['white space only', dropBlank, 'cuts'],
  ['breaks the syntax', cutBrokenSyntax, 'cuts'],
];

export type Tidied =
  | { readonly kind: 'text'; readonly text: string; readonly range: Range }
  | { readonly kind: 'empty'; readonly reason: string };

/** What a model has written so far as it would stand right of the cursor. */
export function shapePartial(modelText: string, context: TidyContext): string {
  let text = modelText;
  for (const [, filter, effect] of filters) if (effect === 'shapes') text = filter(text, context);
  return withLineEnds(text, context.point);
}

/**
 * What the editor gets of what a model wrote from `writtenFrom` on: `text` replaces `range`, which lies on the
 * cursor's line of the document as it really is (the suggest widget's item not applied).
 */
export function tidy(modelText: string, context: TidyContext): Tidied {
  if (modelText === '') return { kind: 'empty', reason: 'the model wrote nothing' };
  let text = modelText;
  for (const [reason, filter] of filters) {
    text = filter(text, context);
    if (text === '') return { kind: 'empty', reason };
  }
  const { point } = context;
  const { covered } = placementOf(text, context);
  if (text === lineAfter(point).slice(0, covered)) return { kind: 'empty', reason: 'stands there already' };
  return { kind: 'text', ...inDocument(text, covered, point) };
}

function inDocument(text: string, covered: number, point: EditPoint): { text: string; range: Range } {
  const { line, selected } = point;
  const cursor = point.offset - point.lineStart;
  return {
    text: (selected?.text ?? '') + withLineEnds(text, point),
    range: {
      start: { line, character: selected?.startCharacter ?? cursor },
      end: { line, character: (selected?.endCharacter ?? cursor) + covered },
    },
  };
}

const withLineEnds = (text: string, { eol }: EditPoint) => text.replaceAll('\n', eol);
