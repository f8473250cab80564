/** An odd multiplier of the rolling hash (Karp, Rabin 1987), modulo 2^32. */
const BASE = 0x01000193;
const TOKEN = /[\p{L}_$][\p{L}\p{N}_$]*|\p{N}+|[^\s\p{L}\p{N}]/gu;

/** FNV-1a over UTF-16 units, 32 bits. */
function hashToken(token: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < token.length; i++) hash = Math.imul(hash ^ token.charCodeAt(i), BASE);
  return hash >>> 0;
}

/** The final mix of MurmurHash3, 32 bits: every input bit reaches every output bit. */
export function mixBits(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * Hashes of every run of `size` consecutive tokens (words, numbers, single signs; blanks do not count).
 * Fewer tokens than `size`: one hash of all of them, or none for a text without tokens.
 */
export function shingles(text: string, size: number): Uint32Array {
  const tokens = Uint32Array.from(text.match(TOKEN) ?? [], hashToken);
  if (tokens.length === 0) return tokens;
  const width = Math.min(size, tokens.length);
  const runs = new Uint32Array(tokens.length - width + 1);
  let leaving = 1; // BASE ** (width - 1): the weight of the token that leaves the window
  for (let i = 1; i < width; i++) leaving = Math.imul(leaving, BASE);
  let window = 0;
  for (let i = 0; i < tokens.length; i++) {
    if (i >= width) window = (window - Math.imul(tokens[i - width]!, leaving)) | 0;
    window = (Math.imul(window, BASE) + tokens[i]!) | 0;
    if (i >= width - 1) runs[i - width + 1] = mixBits(window);
  }
  return runs;
}
