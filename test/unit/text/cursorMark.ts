import { type EditPoint, editPointAt } from '../../../engine/text/editPoint.ts';

/** A document as tests write it: `│` marks the cursor. */
export function pointAt(marked: string): EditPoint {
  const offset = marked.indexOf('│');
  if (offset === -1 || marked.indexOf('│', offset + 1) !== -1) throw new Error('mark one cursor with │');
  const line = marked.slice(0, offset).split('\n').length - 1;
  return editPointAt(marked.replace('│', ''), offset, line);
}
