import { type EditPoint, lineAfter } from '../editPoint.ts';
import { endsLine } from '../hole.ts';
import { coveredSuffix } from './coveredSuffix.ts';
import type { TidyContext } from './filter.ts';

export interface Placement {
  /** UTF-16 units after the cursor that the text takes the place of. */
  readonly covered: number;
  /** Whether the document is whole then; undefined when nobody can tell. */
  readonly isWhole: boolean | undefined;
}

/**
 * Where a text goes. What it covers is told from the text itself, as `coveredSuffix` reads it; where that leaves the
 * document broken and covering nothing, or all closers, does not, the syntax knows better.
 */
export function placementOf(text: string, { point, syntax }: TidyContext): Placement {
  const read = coveredSuffix(text, point);
  if (syntax === undefined) return { covered: read, isWhole: undefined };
  for (const covered of new Set([read, 0, allClosers(point)])) {
    const end = point.offset + covered;
    const isWhole = syntax.isWhole(point.text.slice(0, point.offset) + text + point.text.slice(end));
    if (isWhole) return { covered, isWhole };
    if (isWhole === undefined) return { covered: read, isWhole };
  }
  return { covered: read, isWhole: false };
}

const allClosers = (point: EditPoint) => (endsLine(point) ? lineAfter(point).trimEnd().length : 0);
