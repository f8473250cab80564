import type { Stage } from './tokenizerFiles.ts';

/**
 * How text becomes pieces that BPE works on one by one: the stages of tokenizer.json that split, and whether
 * the pieces are then written in the byte-level alphabet. Keeping the two apart lets pieces be looked up in a
 * cache before any byte is touched.
 */
export interface PieceRules {
  /** For the library; null: the whole text is one piece. */
  readonly split: Stage | null;
  readonly byteLevel: boolean;
}

/** GPT-2's pattern, which ByteLevel applies on its own unless told not to. */
const gpt2Pattern = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

const isolate = (pattern: string): Stage => ({
  type: 'Split',
  pattern: { Regex: pattern },
  behavior: 'Isolated',
  invert: false,
});

export function pieceRules(preTokenizer: Stage | null): PieceRules {
  const stages = preTokenizer === null ? [] : flatten(preTokenizer);
  const split = stages.flatMap(splitStages);
  return {
    split: split.length === 0 ? null : { type: 'Sequence', pretokenizers: split },
    byteLevel: stages.some((stage) => stage.type === 'ByteLevel'),
  };
}

function flatten(stage: Stage): Stage[] {
  return stage.type === 'Sequence' ? (stage.pretokenizers as Stage[]).flatMap(flatten) : [stage];
}

function splitStages(stage: Stage): Stage[] {
  switch (stage.type) {
    case 'ByteLevel':
      return stage.use_regex === false ? [] : [isolate(gpt2Pattern)];
    case 'Digits':
      // The library knows ASCII digits only; the reference (Rust, char::is_numeric) all of category N.
      return [isolate(stage.individual_digits === true ? '\\p{N}' : '\\p{N}+')];
    default:
      return [stage];
  }
}
