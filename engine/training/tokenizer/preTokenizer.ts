/** Qwen2's split, as tokenizer.json states it and as llama.cpp's `qwen2` pre-tokenizer does it: single digits. */
export const QWEN2_PATTERN =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/** JavaScript (before regular expression modifiers) has no `(?i:...)`. */
const SPLIT =
  /'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+/gu;

/** The pieces within which byte pairs may merge. */
export function preTokenize(text: string): readonly string[] {
  return text.normalize('NFC').match(SPLIT) ?? [];
}
