import { SlipstreamError } from '../errors.ts';
import type { Tokenizer } from '../model/tokenizer.ts';

export type Slot = 'prefix' | 'suffix' | 'path' | 'code' | 'repo';

/** A prompt's shape: control tokens by id, fixed text, and places to fill. */
export type TemplatePart =
  | { readonly kind: 'token'; readonly id: number }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'slot'; readonly slot: Slot };

const slotPattern = /\{(prefix|suffix|path|code|repo)\}/u;

/** Reads `<|fim_suffix|>{suffix}<|fim_prefix|>{prefix}<|fim_middle|>` and the like. */
export function parseTemplate(template: string, tokenizer: Tokenizer): readonly TemplatePart[] {
  return template.split(slotPattern).flatMap((piece, index): TemplatePart[] =>
    // split() puts what the group captured, a slot's name, at the odd places.
    index % 2 === 1 ? [{ kind: 'slot', slot: piece as Slot }] : parseLiteral(piece, tokenizer),
  );
}

/**
 * The same for a template that a person wrote.
 * @throws SlipstreamError model.corrupt when the prefix has no place, or two
 */
export function parseHoleTemplate(template: string, tokenizer: Tokenizer): readonly TemplatePart[] {
  const parts = parseTemplate(template, tokenizer);
  const count = (slot: Slot) => parts.filter((part) => part.kind === 'slot' && part.slot === slot).length;
  if (count('prefix') !== 1 || count('suffix') > 1 || count('code') + count('repo') > 0) {
    throw new SlipstreamError(
      'model.corrupt',
      `The fill-in-the-middle template ${JSON.stringify(template)} has to hold {prefix} once, and may hold {suffix} and {path}.`,
    );
  }
  return parts;
}

function parseLiteral(literal: string, tokenizer: Tokenizer): TemplatePart[] {
  const parts: TemplatePart[] = [];
  const names = [...tokenizer.specialTokens.keys()].sort((a, b) => b.length - a.length);
  let text = '';
  for (let at = 0; at < literal.length; ) {
    const name = names.find((candidate) => literal.startsWith(candidate, at));
    if (name === undefined) {
      text += literal[at++];
      continue;
    }
    if (text !== '') parts.push({ kind: 'text', text });
    text = '';
    parts.push({ kind: 'token', id: tokenizer.specialTokenId(name)! });
    at += name.length;
  }
  if (text !== '') parts.push({ kind: 'text', text });
  return parts;
}
